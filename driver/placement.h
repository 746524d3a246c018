// SPDX-License-Identifier: Apache-2.0
//
// What a packed run needs of its program besides an image of its memory: a placement
// (abi/memory_image.h) says which files are mapped where, and what was in memory that the image
// does not hold. Made where the run is packed, followed by the restorer wherever the pack is.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heddle::driver {

/// A file that the program is made of.
struct ProgramFile {
  std::string name;            // as its loader knows it: the program itself has none
  std::filesystem::path file;  // where it is here
  std::string packed;          // where it is in the pack
};

/// Of a process that stands before the program's first instruction. The kernel's own page of code
/// is another one on each machine: its functions become system calls. user_error when something is
/// mapped that is not one of `files`.
std::string placement_of(pid_t process, const std::vector<ProgramFile>& files);

/// The files of a placement that was unpacked there: by the name that the program's loader knows.
std::map<std::string, std::filesystem::path> placed_files(std::string placement,
                                                          const std::filesystem::path& unpacked);
/// The same placement, for a restorer that finds them there.
std::string placement_in(std::string placement, const std::filesystem::path& unpacked);

/// The image of a checkpoint, which may be a packed log. user_error when that is cut off.
std::string read_image(const std::filesystem::path& file);

/// A plain file that the program had open at the checkpoint.
struct OpenFile {
  std::string path;
  bool is_read = false;
};
std::vector<OpenFile> open_files(std::string image);
/// The build id of the runtime library whose memory it holds.
std::string runtime_of(const std::string& image);
/// `moved` says where each is now; empty: where it was.
std::string with_open_files_at(std::string image,
                               const std::function<std::string(const std::string& path)>& moved);

}  // namespace heddle::driver
