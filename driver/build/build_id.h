// SPDX-License-Identifier: Apache-2.0
//
// What a program says about its own origin. Both notes survive stripping.
#pragma once

#include <filesystem>
#include <string>

namespace heddle::build {

/// Owner and type of the note every link of heddle-cc and heddle-c++ leaves in its output.
inline constexpr char kMarkOwner[] = "Heddle";
inline constexpr unsigned kMarkType = 1;

/// Hexadecimal. Throws heddle::Error if the file is no ELF program or has no build-id.
std::string read_build_id(const std::filesystem::path& program);

/// The same, or a sum of its bytes if it has none: what a program that was built otherwise is known
/// by.
std::string read_identity(const std::filesystem::path& program);

/// True if heddle-cc or heddle-c++ linked it, whether or not the saved link still exists. Throws if
/// the file is no ELF program.
bool is_heddle_built(const std::filesystem::path& program);

}  // namespace heddle::build
