// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace heddle::cli {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval{100};
constexpr std::chrono::milliseconds kLogInterval{5000};

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == 0) continue;
    const std::string_view text(value);
    return text.find("UTF-8") != std::string_view::npos ||
           text.find("utf8") != std::string_view::npos;
  }
  return false;
}

unsigned width_of(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return 100;
}

}  // namespace

Terminal Terminal::of_standard_output() {
  Terminal terminal;
  terminal.interactive = isatty(STDOUT_FILENO) != 0;
  const char* const no_colour = std::getenv("NO_COLOR");
  terminal.colour = terminal.interactive && (no_colour == nullptr || *no_colour == 0);
  terminal.unicode = terminal.interactive && locale_is_utf8();
  terminal.width = width_of(STDOUT_FILENO);
  return terminal;
}

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), on_terminal_(isatty(STDERR_FILENO) != 0) {
  next_ = std::chrono::steady_clock::now() + (on_terminal_ ? kTerminalInterval : kLogInterval);
}

bool ProgressLine::due() {
  if (quiet_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return false;
  next_ = now + (on_terminal_ ? kTerminalInterval : kLogInterval);
  return true;
}

void ProgressLine::show(std::string_view text) {
  if (quiet_) return;
  if (!on_terminal_) {
    fmt::print(stderr, "heddle: {}\n", text);
    return;
  }
  clear();
  const std::size_t room = std::max<std::size_t>(width_of(STDERR_FILENO), 2) - 1;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    fmt::print(stderr, "{}{}", shown_lines_ == 0 ? "" : "\n",
               text.substr(begin, std::min(end - begin, room)));
    ++shown_lines_;
    begin = end + 1;
  }
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (shown_lines_ == 0) return;
  if (shown_lines_ > 1) fmt::print(stderr, "\x1b[{}A", shown_lines_ - 1);
  fmt::print(stderr, "\r\x1b[J");
  std::fflush(stderr);
  shown_lines_ = 0;
}

}  // namespace heddle::cli
