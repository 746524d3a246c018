// SPDX-License-Identifier: Apache-2.0
//
// Text in a given number of terminal columns. Takes what programs say (assertions, names, source
// lines) and gives what a terminal can be trusted with.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::report {

/// Control characters (also escape sequences) and broken UTF-8 become '?', tabs a blank; without
/// Unicode, so does everything beyond ASCII.
std::string printable(std::string_view text, bool unicode);

/// Terminal columns of printable text: 2 for the wide scripts of East Asia, 0 for combining marks.
std::size_t display_width(std::string_view text);

/// At most `width` columns; what is left out ends in `ellipsis`.
std::string shortened(std::string_view text, std::size_t width, std::string_view ellipsis);

/// Exactly `width` columns, or more if `text` is longer.
std::string padded(std::string text, std::size_t width);

/// Lines of at most `width` columns, broken at blanks where there are any.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace heddle::report
