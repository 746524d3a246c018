// SPDX-License-Identifier: Apache-2.0
#include "driver/output_difference.h"

#include <fmt/format.h>

namespace heddle::driver {
namespace {

std::string first_different_line(const char* stream, const std::string& expected,
                                 const std::string& actual) {
  std::size_t line = 1;
  std::size_t start = 0;
  for (std::size_t i = 0;; ++i) {
    const bool ended = i == expected.size() || i == actual.size();
    if (ended || expected[i] != actual[i]) break;
    if (expected[i] == '\n') ++line, start = i + 1;
  }
  const auto rest = [start](const std::string& text) {
    return text.substr(start, text.find('\n', start) - start);
  };
  return fmt::format("{} differs in line {}: expected \"{}\", got \"{}\"", stream, line,
                     rest(expected), rest(actual));
}

}  // namespace

std::optional<std::string> first_difference(const Output& expected, const Output& actual) {
  if (expected.standard_output != actual.standard_output) {
    return first_different_line("standard output", expected.standard_output,
                                actual.standard_output);
  }
  if (expected.standard_error != actual.standard_error) {
    return first_different_line("standard error", expected.standard_error, actual.standard_error);
  }
  return std::nullopt;
}

}  // namespace heddle::driver
