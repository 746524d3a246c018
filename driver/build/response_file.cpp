// SPDX-License-Identifier: Apache-2.0
#include "driver/build/response_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace heddle::build {
namespace {

// A file that names itself would otherwise never end.
constexpr int kMaxNesting = 16;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

void expand(const std::vector<std::string>& words, int nesting, std::vector<std::string>& all) {
  for (const std::string& word : words) {
    if (word.size() > 1 && word.front() == '@' && nesting < kMaxNesting) {
      std::ifstream file(word.substr(1), std::ios::binary);
      if (file) {
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        expand(split_words(text), nesting + 1, all);
        continue;
      }
    }
    all.push_back(word);
  }
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;  // "" is a word, too
    } else if (is_space(c)) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> split_reproduced(std::string_view text) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view word) {
    if (!word.empty()) words.emplace_back(word);
  };
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t quote = line.find('"');
    const bool begins = quote == 0 || (quote != std::string_view::npos &&
                                       (line[quote - 1] == ' ' || line[quote - 1] == '='));
    const bool is_quoted = begins && quote + 1 < line.size() && line.ends_with('"') &&
                           line.find(' ', quote) != std::string_view::npos;
    const std::size_t space = line.find(' ');
    if (is_quoted && quote > 0 && line[quote - 1] == '=') {
      words.push_back(std::string(line.substr(0, quote)) +
                      std::string(line.substr(quote + 1, line.size() - quote - 2)));
    } else if (is_quoted) {
      add(line.substr(0, quote == 0 ? 0 : quote - 1));
      words.emplace_back(line.substr(quote + 1, line.size() - quote - 2));
    } else {
      add(line.substr(0, space));
      if (space != std::string_view::npos) words.emplace_back(line.substr(space + 1));
    }
  }
  return words;
}

std::string join_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += '"';
    for (const char c : word) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += "\"\n";
  }
  return text;
}

std::vector<std::string> expand_response_files(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  expand(words, 0, all);
  return all;
}

}  // namespace heddle::build
