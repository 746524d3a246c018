// SPDX-License-Identifier: Apache-2.0
//
// What a terminal can show. Whether it can is the caller's to find out (isatty, NO_COLOR, locale).
#pragma once

#include <string>
#include <string_view>

namespace heddle::report {

/// Signs of one kind per meaning, each one column wide unless said otherwise.
struct Glyphs {
  const char* bar;
  const char* rule;
  const char* acts;   // this thread, in this row
  const char* fails;  // this thread, here it went wrong
  const char* gap;    // events left out
  const char* leave_right;
  const char* leave_left;
  const char* enter_right;
  const char* enter_left;
  const char* across;    // a switch's line over a lane
  const char* becomes;   // between an old and a new value
  const char* ellipsis;  // one column in Unicode, else as long as it is
  const char* middle_dot;
};

inline constexpr Glyphs kUnicode{"│", "─", "●", "✗", "⋮", "╰", "╯", "▶", "◀", "─", "→", "…", "·"};
inline constexpr Glyphs kAscii{"|", "-", "*", "X", ":", "`", "'", ">", "<", "-", "->", "...", "-"};

enum class Paint { Plain, Bold, Dim, Failure, Good, Place };

struct Style {
  bool colour = false;
  bool unicode = false;

  const Glyphs& glyphs() const { return unicode ? kUnicode : kAscii; }
  std::string paint(Paint paint, std::string_view text) const;
  /// One colour a thread, so that the eye can follow it.
  std::string paint_thread(std::size_t thread, std::string_view text) const;
};

inline std::string Style::paint(Paint paint, std::string_view text) const {
  if (!colour || text.empty() || paint == Paint::Plain) return std::string(text);
  const char* code = paint == Paint::Bold      ? "1"
                     : paint == Paint::Dim     ? "2"
                     : paint == Paint::Failure ? "1;31"
                     : paint == Paint::Good    ? "32"
                                               : "36";
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

inline std::string Style::paint_thread(std::size_t thread, std::string_view text) const {
  constexpr const char* codes[] = {"37", "33", "35", "34", "32", "36"};
  if (!colour || text.empty()) return std::string(text);
  return "\x1b[" + std::string(codes[thread % 6]) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace heddle::report
