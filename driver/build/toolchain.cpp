// SPDX-License-Identifier: Apache-2.0
#include "driver/build/toolchain.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "base/error.h"

namespace heddle::build {
namespace {

namespace fs = std::filesystem;

constexpr char kDebianDirectory[] = "/usr/lib/llvm-19/bin";

fs::path own_library_directory() {
  if (const char* named = std::getenv("HEDDLE_LIB"); named != nullptr && *named != '\0') {
    return fs::absolute(named);
  }
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    throw environment_error(
        fmt::format("cannot read /proc/self/exe: {}; mount /proc or set HEDDLE_LIB to Heddle's lib "
                    "directory",
                    error.message()));
  }
  // heddle-ld lives in lib itself.
  const fs::path directory = self.parent_path();
  return directory.filename() == "lib" ? directory : directory.parent_path() / "lib";
}

bool is_executable(const fs::path& file) {
  return ::access(file.c_str(), X_OK) == 0;
}

}  // namespace

fs::path own_library(const char* name) {
  fs::path file = own_library_directory() / name;
  if (!fs::exists(file)) {
    throw environment_error(
        fmt::format("{} is missing, a part of Heddle itself; build Heddle again (make), or set "
                    "HEDDLE_LIB to the directory it is in",
                    file.string()));
  }
  return file;
}

fs::path pass_plugin() {
  return own_library("libheddle_pass.so");
}

fs::path runtime_library() {
  return own_library(kRuntimeName);
}

fs::path restorer() {
  return own_library("heddle-restorer");
}

fs::path llvm_tool(const char* name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const fs::path candidate = fs::path(directory) / fmt::format("{}-19", name);
    if (!directory.empty() && is_executable(candidate)) return candidate;
  }
  const fs::path candidate = fs::path(kDebianDirectory) / name;
  if (is_executable(candidate)) return candidate;
  throw environment_error(
      fmt::format("{}-19 is neither in PATH nor in {}; run scripts/setup, or install the packages "
                  "clang-19, lld-19 and llvm-19",
                  name, kDebianDirectory));
}

}  // namespace heddle::build
