// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace heddle::driver {

/// What a program wrote to its two streams.
struct Output {
  std::string standard_output;
  std::string standard_error;
};

/// The first line in which they differ, in words.
std::optional<std::string> first_difference(const Output& expected, const Output& actual);

}  // namespace heddle::driver
