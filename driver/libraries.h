// SPDX-License-Identifier: Apache-2.0
//
// What a program needs to run elsewhere: its loader and the libraries that finds.
#pragma once

#include <filesystem>
#include <vector>

namespace heddle::driver {

struct Libraries {
  std::filesystem::path loader;
  std::vector<std::filesystem::path> files;
};

/// environment_error when the loader does not find them all. Libraries that the program opens by
/// itself (dlopen) are not among them, but what libc opens (libgcc_s) is.
Libraries libraries_of(const std::filesystem::path& program);

}  // namespace heddle::driver
