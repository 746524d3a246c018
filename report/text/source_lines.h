// SPDX-License-Identifier: Apache-2.0
//
// The text of source lines, for whoever has the sources at hand.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heddle::report {

class SourceLines {
 public:
  /// Empty when the file cannot be read or has no such line.
  std::string operator()(const std::string& file, std::uint32_t line);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace heddle::report
