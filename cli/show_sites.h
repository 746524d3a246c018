// SPDX-License-Identifier: Apache-2.0
//
// The static side of `heddle show`: what is known of a program without running it.
#pragma once

#include <string>

#include "base/error.h"

namespace heddle::cli {

/// `heddle show --sites PROG`: every site of a program or a shared library, and what the sharing
/// analysis made of them.
ExitCode show_sites(const std::string& program, bool json);

}  // namespace heddle::cli
