// SPDX-License-Identifier: Apache-2.0
#include "report/text/source_lines.h"

#include <filesystem>
#include <fstream>

namespace heddle::report {
namespace {

// A trace may name anything as a source file, also something endless.
constexpr std::uintmax_t kLargestSource = 64u << 20;

std::vector<std::string> read_lines(const std::string& file) {
  std::vector<std::string> lines;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error) ||
      std::filesystem::file_size(file, error) > kLargestSource)
    return lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string trimmed(const std::string& text) {
  std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::string SourceLines::operator()(const std::string& file, std::uint32_t line) {
  auto [found, is_new] = files_.try_emplace(file);
  if (is_new) found->second = read_lines(file);
  if (line == 0 || line > found->second.size()) return "";
  return trimmed(found->second[line - 1]);
}

}  // namespace heddle::report
