// SPDX-License-Identifier: Apache-2.0
#include "driver/outside.h"

#include <fmt/format.h>

#include <filesystem>

#include "analysis/order/recording.h"
#include "base/error.h"
#include "driver/thread_path.h"
#include "trace/file.h"
#include "trace/sha256.h"

namespace heddle::driver {
namespace {

namespace fs = std::filesystem;

bool is_still(const InputFile& file) {
  std::error_code error;
  if (!fs::is_regular_file(file.path, error) || fs::file_size(file.path, error) != file.size) {
    return false;
  }
  return trace::sha256(trace::read_file(file.path)) == file.sha256;
}

std::uint32_t add_name(std::string& names, const std::string& name) {
  const auto offset = static_cast<std::uint32_t>(names.size());
  names += name;
  names += '\0';
  return offset;
}

}  // namespace

void resolve_files(Outside& outside) {
  for (InputFile& file : outside.files) {
    file.instead.clear();
    if (is_still(file)) continue;
    std::error_code error;
    if (file.copy.empty() || !fs::exists(file.copy, error)) {
      throw user_error(fmt::format(
          "{}, which the recorded program read, {} and no copy of it was kept; bring back the one "
          "with sha256 {} ({} bytes), or record again",
          file.path, fs::exists(file.path, error) ? "has changed since" : "is missing", file.sha256,
          file.size));
    }
    if (trace::sha256(trace::read_file(file.copy)) != file.sha256) {
      throw user_error(
          fmt::format("{}: the kept copy of {} is damaged; record again", file.copy, file.path));
    }
    file.instead = fs::absolute(file.copy).string();
  }
}

ToldRegions told_regions(const Outside& outside) {
  ToldRegions told;
  for (const auto& [path, bytes] : outside.answers) {
    const std::string_view whole = analysis::whole_answers(bytes);
    told.streams.push_back({hash_of_path(path), told.answers.size(), whole.size()});
    told.answers += whole;
  }
  for (const InputFile& file : outside.files) {
    if (file.instead.empty()) continue;
    const std::uint32_t given = add_name(told.names, file.given);
    told.copies.push_back({given, add_name(told.names, file.instead)});
  }
  return told;
}

}  // namespace heddle::driver
