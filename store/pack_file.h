// SPDX-License-Identifier: Apache-2.0
//
// Many files as one: what `heddle pack` makes. FORMAT.md, "Pack".
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::store {

struct PackedFile {
  std::string name;  // relative, with '/'; never leads out of where it is unpacked
  bool executable = false;
  std::string bytes;
};

std::string to_pack(const std::vector<PackedFile>& files);

/// Whether the file begins like a pack. False when there is no such file.
bool is_pack(const std::filesystem::path& file);

/// user_error, which names the file, when it is cut off, damaged or not a pack.
void unpack(const std::filesystem::path& file, const std::filesystem::path& directory);

/// All regular files under `directory`, as `name`/….
void add_directory(std::vector<PackedFile>& files, const std::filesystem::path& directory,
                   const std::string& name);

}  // namespace heddle::store
