// SPDX-License-Identifier: Apache-2.0
//
// A directory for temporary files, gone with the object.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace heddle::cli {

class ScratchDirectory {
 public:
  /// `purpose` is part of its name.
  explicit ScratchDirectory(const std::string& purpose) {
    std::string name =
        (std::filesystem::temp_directory_path() / ("heddle-" + purpose + "-XXXXXX")).string();
    if (mkdtemp(name.data()) == nullptr) {
      throw environment_error(
          fmt::format("cannot create a directory like {}: {}", name, strerror(errno)));
    }
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace heddle::cli
