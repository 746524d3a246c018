// SPDX-License-Identifier: Apache-2.0
//
// Command lines in files: @file arguments, and the response.txt of a saved link.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::build {

/// Splits as GNU tools do: white space separates, quotes and backslashes protect.
std::vector<std::string> split_words(std::string_view text);

/// Splits what the linker writes when it keeps a link: an argument a line, its value behind a space
/// if they are two words. A value with a space is in quotes, and nothing is protected otherwise.
std::vector<std::string> split_reproduced(std::string_view text);

/// The opposite of split_words: one word a line, protected where needed.
std::string join_words(const std::vector<std::string>& words);

/// Replaces each readable @file by its words, also within such files; one that cannot be read stays
/// as it is, for the tool itself to complain about.
std::vector<std::string> expand_response_files(const std::vector<std::string>& words);

}  // namespace heddle::build
