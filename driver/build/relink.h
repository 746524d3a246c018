// SPDX-License-Identifier: Apache-2.0
//
// The linker's command line for a variant, made from that of the native link. Where a variant finds
// its libraries is not taken from there: the linker, when it keeps a link (--reproduce), writes
// directories and libraries that have no name of their own as paths below the archive. The native
// program itself has them as they were meant.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "abi/variant.h"
#include "driver/build/saved_link.h"

namespace heddle::build {

/// What a program says of its libraries.
struct LibraryNames {
  std::vector<std::string> needed;
  std::string run_path;  // where they are looked for; empty: in the usual places

  static LibraryNames of(const std::filesystem::path& program);
};

/// The run path of a program in `directory` for a copy of it that is elsewhere.
std::string without_origin(std::string run_path, const std::string& directory);

/// The name that a variant has for a library, if `needed` is what the program calls it and the
/// program is started in `directory`.
std::string name_in_variant(const std::string& needed, const std::filesystem::path& directory);

/// All but the output. Makes the runtime, and libraries that are named by a path, available below
/// the link's directory.
std::vector<std::string> relink(const SavedLink& saved, const LibraryNames& names,
                                abi::Variant variant);

/// Libraries that are called by an absolute path: in a link below a directory (--chroot) the linker
/// calls them "./usr/...", which is mended in the program that it has made of these words.
void name_absolutely(const std::filesystem::path& output, const std::vector<std::string>& words);

/// True if the program can be given the runtime, which is a shared library.
bool is_dynamic(const SavedLink& saved);

}  // namespace heddle::build
