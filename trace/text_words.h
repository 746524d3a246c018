// SPDX-License-Identifier: Apache-2.0
//
// Words of Heddle's text files: separated by blanks, quoted when they would not survive bare.
// FORMAT.md, "Words".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::trace {

/// `text` as one word: bare where possible, else in double quotes with escapes.
std::string to_word(std::string_view text);
/// `text` in double quotes with escapes, always.
std::string to_quoted(std::string_view text);

struct TextLine {
  std::vector<std::string> words;
  std::string comment;  // after the '#', unquoted like a word if it is one quoted word
  std::string problem;  // not empty: why the line cannot be read
};

TextLine split_line(std::string_view line);

/// `text` so that it reads back as the same TextLine::comment.
std::string to_comment(std::string_view text);

}  // namespace heddle::trace
