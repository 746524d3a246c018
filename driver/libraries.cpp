// SPDX-License-Identifier: Apache-2.0
#include "driver/libraries.h"

#include <fmt/format.h>

#include <sstream>

#include "base/error.h"
#include "driver/build/subprocess.h"

namespace heddle::driver {
namespace {

namespace fs = std::filesystem;

constexpr char kLoader[] = "/lib64/ld-linux-x86-64.so.2";

}  // namespace

Libraries libraries_of(const fs::path& program) {
  const build::ToolResult listed = build::run_tool({kLoader, "--list", program.string()}, {}, true);
  if (listed.status != 0) {
    throw environment_error(
        fmt::format("cannot find the libraries of {}: {}", program.string(), listed.output));
  }
  Libraries libraries{kLoader, {}};
  std::istringstream lines(listed.output);
  for (std::string line; std::getline(lines, line);) {
    // "  libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007…)"
    const std::size_t arrow = line.find(" => /");
    const std::size_t end = line.rfind(" (");
    if (arrow == std::string::npos || end == std::string::npos) continue;
    const fs::path library = line.substr(arrow + 4, end - arrow - 4);
    if (library.filename() == fs::path(kLoader).filename()) continue;
    libraries.files.push_back(library);
    // Threads that end by pthread_exit need it; libc opens it when one does.
    const fs::path unwinder = library.parent_path() / "libgcc_s.so.1";
    if (library.filename() == "libc.so.6" && fs::exists(unwinder)) {
      libraries.files.push_back(unwinder);
    }
  }
  return libraries;
}

}  // namespace heddle::driver
