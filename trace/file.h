// SPDX-License-Identifier: Apache-2.0
//
// Whole files, with errors that name them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace heddle::trace {

/// user_error when there is no such file, environment_error when it cannot be read.
std::string read_file(const std::filesystem::path& path);
/// environment_error when the file cannot be written whole.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace heddle::trace
