// SPDX-License-Identifier: Apache-2.0
#include "driver/needed_libraries.h"

#include <cstdlib>
#include <sstream>

#include "driver/build/subprocess.h"

namespace heddle::driver {
namespace {

constexpr char kLoader[] = "/lib64/ld-linux-x86-64.so.2";

}  // namespace

std::filesystem::path dynamic_loader() {
  return kLoader;
}

LibrarySearch LibrarySearch::here() {
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  return {std::filesystem::current_path(), path == nullptr ? "" : path};
}

std::vector<NeededLibrary> needed_libraries(const std::filesystem::path& program,
                                            const LibrarySearch& search) {
  const build::ToolResult loader =
      build::run_tool({kLoader, "--library-path", search.path, "--list",
                       std::filesystem::absolute(program).string()},
                      search.directory, /*capture=*/true);
  std::vector<NeededLibrary> libraries;
  std::istringstream lines(loader.output);
  // "	libfoo.so.1 => /where/libfoo.so.1 (0x00007f...)"; a name with a slash stands alone.
  constexpr std::string_view kArrow = " => ";
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.rfind(" (0x");
    if (end == std::string::npos || line.front() != '\t') continue;
    line = line.substr(1, end - 1);
    const std::size_t arrow = line.find(kArrow);
    const std::string name = line.substr(0, arrow);
    const std::filesystem::path file =
        search.directory / (arrow == std::string::npos ? name : line.substr(arrow + kArrow.size()));
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) continue;
    libraries.push_back({name, file});
  }
  return libraries;
}

}  // namespace heddle::driver
