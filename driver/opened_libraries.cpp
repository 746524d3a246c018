// SPDX-License-Identifier: Apache-2.0
#include "driver/opened_libraries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <functional>
#include <set>

#include "base/error.h"
#include "driver/build/build_id.h"

namespace heddle::driver {
namespace {

namespace fs = std::filesystem;

/// What a program tries to open need not be a library.
bool is_of_interest(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return false;
  try {
    return build::is_heddle_built(file);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

OpenedLibraries::OpenedLibraries(const std::string& build_id)
    : cache_(build::Cache::of_user()), directory_(cache_.opened(build_id)) {}

fs::path OpenedLibraries::file_of(const std::vector<std::string>& arguments) const {
  const std::size_t hash = std::hash<std::string>{}(fmt::format("{}", fmt::join(arguments, "\n")));
  return directory_ / fmt::format("{:016x}", hash);
}

bool OpenedLibraries::is_known(const std::vector<std::string>& arguments) const {
  return fs::exists(file_of(arguments));
}

// Sorted: the order in which the lists were made is no part of a program's identity.
std::vector<fs::path> OpenedLibraries::known() const {
  std::set<fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& list : fs::directory_iterator(directory_, error)) {
    std::ifstream lines(list.path());
    for (std::string line; std::getline(lines, line);) {
      if (is_of_interest(line)) paths.emplace(line);
    }
  }
  return {paths.begin(), paths.end()};
}

void OpenedLibraries::learn(const std::vector<std::string>& arguments,
                            const std::vector<std::string>& paths) {
  const build::WorkDirectory work(cache_);
  const fs::path list = work.path() / "opened";
  std::ofstream lines(list);
  for (const std::string& path : paths) {
    if (is_of_interest(path)) lines << path << '\n';
  }
  lines.close();
  cache_.publish(list, file_of(arguments));
}

}  // namespace heddle::driver
