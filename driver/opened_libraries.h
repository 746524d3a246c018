// SPDX-License-Identifier: Apache-2.0
//
// Which libraries a program opens by itself (dlopen). Nothing in its file says so: it is learned by
// executing it once, and kept in the cache by the program's build-id and its arguments.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driver/build/cache.h"

namespace heddle::driver {

class OpenedLibraries {
 public:
  explicit OpenedLibraries(const std::string& build_id);

  /// Those that were built with heddle-cc and are still there, whatever the arguments.
  std::vector<std::filesystem::path> known() const;

  bool is_known(const std::vector<std::string>& arguments) const;
  void learn(const std::vector<std::string>& arguments, const std::vector<std::string>& paths);

 private:
  std::filesystem::path file_of(const std::vector<std::string>& arguments) const;

  build::Cache cache_;
  std::filesystem::path directory_;
};

}  // namespace heddle::driver
