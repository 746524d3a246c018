// SPDX-License-Identifier: Apache-2.0
//
// Finds the programs and libraries Heddle works with. Its own are in ../lib as seen from the
// running program, or in $HEDDLE_LIB.
#pragma once

#include <filesystem>

namespace heddle::build {

inline constexpr char kRuntimeName[] = "libheddle_rt.so.1";

/// Throw heddle::Error when the thing is missing, with what to do about it.
std::filesystem::path own_library(const char* name);
std::filesystem::path pass_plugin();
std::filesystem::path runtime_library();
std::filesystem::path restorer();

/// LLVM 19's programs by their plain name (clang, clang++, ld.lld): NAME-19 from
/// PATH, else from where Debian's packages put them.
std::filesystem::path llvm_tool(const char* name);

}  // namespace heddle::build
