// SPDX-License-Identifier: Apache-2.0
//
// The mappings of this process, as /proc/self/maps lists them.
#pragma once

#include <cstddef>

#include "abi/memory_image.h"

namespace heddle::runtime {

using abi::Mapping;

/// In ascending order. `buffer`: room for the kernel's text, at least a page. 0: cannot be read, or
/// more than `capacity`.
std::size_t read_mappings(Mapping* out, std::size_t capacity, char* buffer, std::size_t bytes);

}  // namespace heddle::runtime
