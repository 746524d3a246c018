// SPDX-License-Identifier: Apache-2.0
//
// Names the contents of a file. SHA-256 (FIPS 180-4), so that anybody can check it with sha256sum.
#pragma once

#include <string>
#include <string_view>

namespace heddle::trace {

/// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace heddle::trace
