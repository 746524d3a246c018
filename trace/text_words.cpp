// SPDX-License-Identifier: Apache-2.0
#include "trace/text_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace heddle::trace {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// Length of the UTF-8 sequence at the start of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t length = byte(0) < 0x80                      ? 1
                       : byte(0) >= 0xc2 && byte(0) < 0xe0 ? 2
                       : (byte(0) & 0xf0) == 0xe0          ? 3
                       : byte(0) >= 0xf0 && byte(0) < 0xf5 ? 4
                                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// Takes a quoted word off the front of `rest`; nothing if it is not one.
std::optional<std::string> take_quoted(std::string_view& rest) {
  std::string word;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    char c = rest[i];
    if (c == '"') {
      rest.remove_prefix(i + 1);
      return word;
    }
    if (c != '\\') {
      word.push_back(c);
      continue;
    }
    if (++i == rest.size()) return std::nullopt;
    switch (rest[i]) {
      case '"':
      case '\\': word.push_back(rest[i]); break;
      case 'n': word.push_back('\n'); break;
      case 't': word.push_back('\t'); break;
      case 'x': {
        auto digit = [&](std::size_t at) {
          return at < rest.size() ? std::string_view("0123456789abcdef").find(rest[at])
                                  : std::string_view::npos;
        };
        std::size_t high = digit(i + 1), low = digit(i + 2);
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        word.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        break;
      }
      default: return std::nullopt;
    }
  }
  return std::nullopt;
}

std::string comment_text(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.starts_with('"')) {
    std::string_view rest = text;
    std::optional<std::string> word = take_quoted(rest);
    if (word && rest.empty()) return *word;
  }
  return std::string(text);
}

}  // namespace

std::string to_quoted(std::string_view text) {
  bool utf8 = is_utf8(text);
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (is_control(c) || (!utf8 && static_cast<unsigned char>(c) >= 0x80))
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out.push_back(c);
  }
  return out + '"';
}

std::string to_word(std::string_view text) {
  bool bare = !text.empty() && is_utf8(text) && std::none_of(text.begin(), text.end(), [](char c) {
    return is_control(c) || c == ' ' || c == '"' || c == '\\' || c == '#';
  });
  return bare ? std::string(text) : to_quoted(text);
}

std::string to_comment(std::string_view text) {
  bool plain = !text.empty() && is_utf8(text) && text.front() != '"' && !is_blank(text.front()) &&
               !is_blank(text.back()) && std::none_of(text.begin(), text.end(), is_control);
  return plain ? std::string(text) : to_quoted(text);
}

TextLine split_line(std::string_view line) {
  TextLine result;
  // Files that went through another system's editor or version control end lines with CR LF.
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  for (bool first = true;; first = false) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    if (line.empty()) return result;
    // "#4" inside a line is a word (an occurrence); the '#' of a comment there stands alone.
    if (line.front() == '#' && (first || line.size() == 1 || is_blank(line[1]))) {
      result.comment = comment_text(line.substr(1));
      return result;
    }
    if (line.front() == '"') {
      std::optional<std::string> word = take_quoted(line);
      if (!word || (!line.empty() && !is_blank(line.front()))) {
        result.problem =
            "a quoted word that does not end well (escapes: \\\" \\\\ \\n \\t \\xHH; a blank "
            "after)";
        return result;
      }
      result.words.push_back(std::move(*word));
      continue;
    }
    std::string_view word = line.substr(0, std::min(line.find_first_of(" \t"), line.size()));
    if (std::any_of(word.begin(), word.end(), is_control)) {
      result.problem = "a control character (write it as \\xHH in double quotes)";
      return result;
    }
    result.words.emplace_back(word);
    line.remove_prefix(word.size());
  }
}

}  // namespace heddle::trace
