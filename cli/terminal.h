// SPDX-License-Identifier: Apache-2.0
//
// What the user's terminal can show, and progress on it. Everything a command reports goes to
// standard output; progress goes to standard error and leaves nothing behind on a terminal.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace heddle::cli {

struct Terminal {
  bool interactive = false;  // standard output is a terminal
  bool colour = false;
  bool unicode = false;
  unsigned width = 100;
  static Terminal of_standard_output();
};

/// One or several lines that are rewritten on a terminal; elsewhere a plain line now and then.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet = false);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Cheap when called often: most calls show nothing. `now` shows it in any case.
  template <typename MakeText>
  void update(MakeText make_text) {
    if (due()) show(make_text());
  }
  void say(std::string_view text) { show(text); }
  /// Whether there is room for several lines.
  bool on_terminal() const { return on_terminal_; }
  void clear();

 private:
  bool due();
  void show(std::string_view text);

  bool quiet_;
  bool on_terminal_;
  unsigned shown_lines_ = 0;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace heddle::cli
