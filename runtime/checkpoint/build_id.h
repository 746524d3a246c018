// SPDX-License-Identifier: Apache-2.0
//
// Which build of this library it is: an image holds its variables.
#pragma once

#include "abi/memory_image.h"

namespace heddle::runtime {

/// Hexadecimal; empty if it was linked without one.
void read_own_build_id(char (&out)[abi::kImageBuildIdBytes]);

}  // namespace heddle::runtime
