// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace heddle::trace {

/// As the pieces of traces and logs are kept.
std::string compressed(std::string_view bytes);

/// How long that may be at most.
std::size_t compressed_bound(std::size_t bytes);

/// Fills `target` exactly; false: these are not the bytes of something that long.
bool decompress(std::string_view packed, char* target, std::size_t size);

}  // namespace heddle::trace
