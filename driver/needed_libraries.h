// SPDX-License-Identifier: Apache-2.0
//
// The shared libraries that a program will be started with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::driver {

struct NeededLibrary {
  std::string name;  // as the program, or another library, asks for it
  std::filesystem::path file;
};

/// What the kernel starts such programs by.
std::filesystem::path dynamic_loader();

/// What the dynamic loader searches by, besides what the program and the system say.
struct LibrarySearch {
  std::filesystem::path directory;  // where the program is started
  std::string path;                 // LD_LIBRARY_PATH

  /// Of this process.
  static LibrarySearch here();
};

/// In the order they are loaded, as the dynamic loader itself finds them. Libraries it does not
/// find are left out: the program says so itself when it is started.
std::vector<NeededLibrary> needed_libraries(const std::filesystem::path& program,
                                            const LibrarySearch& search);

}  // namespace heddle::driver
