// SPDX-License-Identifier: Apache-2.0
#include "report/text/cell.h"

#include <algorithm>
#include <cstdint>

namespace heddle::report {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: not valid UTF-8
};

CodePoint first_code_point(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (bytes == 0 || lead > 0xf4 || bytes > text.size()) return {};
  std::uint32_t value = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  // Overlong forms and surrogates are not UTF-8 either.
  if ((bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000) || value > 0x10ffff ||
      (value >= 0xd800 && value < 0xe000))
    return {};
  return {value, bytes};
}

bool is_control(std::uint32_t c) {
  // Also the marks that reverse the direction of what follows: they make a line lie.
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

std::size_t width_of(std::uint32_t c) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr Range wide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0xa4cf},
                            {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f},
                            {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                            {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};
  if ((c >= 0x300 && c <= 0x36f) || (c >= 0xfe00 && c <= 0xfe0f)) return 0;
  for (const Range& range : wide)
    if (c >= range.first && c <= range.last) return 2;
  return 1;
}

/// Bytes of the longest beginning of `text` that fits.
std::size_t fitting_bytes(std::string_view text, std::size_t width) {
  std::size_t position = 0, used = 0;
  while (position < text.size()) {
    CodePoint c = first_code_point(text.substr(position));
    std::size_t columns = c.bytes == 0 ? 1 : width_of(c.value);
    if (used + columns > width) break;
    used += columns;
    position += std::max<std::size_t>(c.bytes, 1);
  }
  return position;
}

}  // namespace

std::string printable(std::string_view text, bool unicode) {
  std::string out;
  while (!text.empty()) {
    CodePoint c = first_code_point(text);
    std::size_t bytes = std::max<std::size_t>(c.bytes, 1);
    if (c.value == '\t' && c.bytes == 1)
      out += ' ';
    else if (c.bytes == 0 || is_control(c.value) || (!unicode && c.bytes > 1))
      out += '?';
    else
      out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    CodePoint c = first_code_point(text);
    width += c.bytes == 0 ? 1 : width_of(c.value);
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t width, std::string_view ellipsis) {
  if (display_width(text) <= width) return std::string(text);
  std::size_t mark = display_width(ellipsis);
  if (mark >= width) return std::string(text.substr(0, fitting_bytes(text, width)));
  std::string out(text.substr(0, fitting_bytes(text, width - mark)));
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out + std::string(ellipsis);
}

std::string padded(std::string text, std::size_t width) {
  std::size_t used = display_width(text);
  if (used < width) text.append(width - used, ' ');
  return text;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  width = std::max<std::size_t>(width, 2);
  while (display_width(text) > width) {
    std::size_t end = fitting_bytes(text, width);
    std::size_t blank = end < text.size() && text[end] == ' ' ? end : text.rfind(' ', end);
    if (blank != std::string_view::npos && blank > 0) end = blank;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace heddle::report
