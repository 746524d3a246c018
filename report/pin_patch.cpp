// SPDX-License-Identifier: Apache-2.0
#include "report/pin_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace heddle::report {
namespace {

using Lines = std::vector<std::string>;

bool is_c(const std::string& file) {
  return file.ends_with(".c");
}

std::string trimmed(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  // What a comment at the end says is not part of the statement.
  std::string text = line.substr(begin, line.find("//", begin) - begin);
  const std::size_t end = text.find_last_not_of(" \t");
  return end == std::string::npos ? std::string() : text.substr(0, end + 1);
}

std::string indent_of(const std::string& line) {
  return line.substr(0, line.find_first_not_of(" \t"));
}

bool ends_statement(const std::string& line) {
  const std::string text = trimmed(line);
  return text.empty() || text.ends_with(';') || text.ends_with('{') || text.ends_with('}') ||
         text.ends_with(':') || text.ends_with("*/") || text.starts_with('#');
}

/// "if (…)", "else", "for (…)" without a body behind it: the next statement belongs to it.
bool is_header(const std::string& line) {
  const std::string text = trimmed(line);
  if (text == "else") return true;
  for (const char* word : {"if ", "if(", "else if", "while ", "while(", "for ", "for("}) {
    if (text.starts_with(word)) return text.ends_with(')');
  }
  return false;
}

/// Where the body of "if (…) body;" begins on one line; npos if that is not its form.
std::size_t body_of_header(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t}");
  if (begin == std::string::npos) return std::string::npos;
  std::size_t at = begin;
  for (const std::string_view word : {"else if", "if", "while", "for"}) {
    if (line.compare(begin, word.size(), word) == 0) {
      at = begin + word.size();
      break;
    }
  }
  if (at == begin) return std::string::npos;
  at = line.find('(', at);
  if (at == std::string::npos) return std::string::npos;
  int depth = 0;
  for (; at < line.size(); ++at) {
    if (line[at] == '(') ++depth;
    if (line[at] == ')' && --depth == 0) break;
  }
  const std::size_t body = line.find_first_not_of(" \t", at + 1);
  if (body == std::string::npos || line[body] == '{' || line[body] == '/') return std::string::npos;
  return body;
}

/// Nothing can be put behind a return, or behind what destructors do at a closing brace.
bool leaves_scope(const std::string& line) {
  const std::string text = trimmed(line);
  return text.starts_with("return") || text.starts_with('}');
}

/// What is inserted at one line of a file.
struct Insertion {
  Lines before;
  Lines after;
};

class FilePatch {
 public:
  FilePatch(std::string file, Lines lines) : file_(std::move(file)), lines_(std::move(lines)) {}

  void declare(const std::string& line) {
    if (std::ranges::find(declarations_, line) == declarations_.end())
      declarations_.push_back(line);
  }
  /// `line` counts from 1. False if the file is shorter.
  bool insert(std::uint32_t line, const std::string& statement, bool after) {
    if (line == 0 || line > lines_.size()) return false;
    Insertion& at = insertions_[line - 1];
    after = after && !leaves_scope(lines_[line - 1]);
    // Of several at one line, what ends comes before what begins.
    (after ? at.after : at.before).push_back(statement);
    return true;
  }

  std::string diff() {
    apply();
    std::string text = fmt::format("--- {0}\n+++ {0}\n", file_);
    constexpr std::size_t kContext = 3;
    long shift = 0;
    for (std::size_t i = 0; i < changes_.size();) {
      // Changes that are close share a hunk.
      std::size_t end = i + 1;
      while (end < changes_.size() &&
             changes_[end].at <= changes_[end - 1].at + changes_[end - 1].removed + 2 * kContext) {
        ++end;
      }
      const std::size_t from = changes_[i].at < kContext ? 0 : changes_[i].at - kContext;
      const std::size_t to =
          std::min(lines_.size(), changes_[end - 1].at + changes_[end - 1].removed + kContext);
      std::string body;
      std::size_t at = from;
      long added = 0;
      for (; i < end; ++i) {
        const Change& change = changes_[i];
        for (; at < change.at; ++at) body += " " + lines_[at] + "\n";
        for (std::size_t k = 0; k < change.removed; ++k) body += "-" + lines_[at++] + "\n";
        for (const std::string& line : change.added) body += "+" + line + "\n";
        added += static_cast<long>(change.added.size()) - static_cast<long>(change.removed);
      }
      for (; at < to; ++at) body += " " + lines_[at] + "\n";
      text += fmt::format("@@ -{},{} +{},{} @@\n{}", from + 1, to - from,
                          static_cast<long>(from) + 1 + shift, static_cast<long>(to - from) + added,
                          body);
      shift += added;
    }
    return text;
  }

 private:
  struct Change {
    std::size_t at;  // line, from 0
    std::size_t removed;
    Lines added;
  };

  /// The first line of the statement that `line` is in.
  std::size_t statement_begin(std::size_t line) const {
    while (line > 0 && !ends_statement(lines_[line - 1]) && !is_header(lines_[line - 1])) --line;
    return line;
  }
  std::size_t statement_end(std::size_t line) const {
    while (line + 1 < lines_.size() && !ends_statement(lines_[line])) ++line;
    return line;
  }

  static Lines indented(const Lines& statements, const std::string& indent) {
    Lines result;
    for (const std::string& statement : statements) result.push_back(indent + statement);
    return result;
  }

  void apply() {
    changes_.clear();
    std::map<std::size_t, Lines> before;  // by line
    std::map<std::size_t, Change> replaced;
    std::map<std::size_t, Lines> after;
    for (const auto& [line, insertion] : insertions_) {
      const std::size_t begin = statement_begin(line);
      const std::size_t end = statement_end(line);
      const std::string indent = indent_of(lines_[begin]);
      const std::size_t body = body_of_header(lines_[line]);
      const bool is_body = begin > 0 && is_header(lines_[begin - 1]);
      if (body != std::string::npos && begin == line && end == line) {
        // if (…) body;  becomes  if (…) { breakpoint; body; }: nearer to what is meant
        Lines lines = {lines_[line].substr(0, body) + "{"};
        const Lines inside = indented(insertion.before, indent + "  ");
        lines.insert(lines.end(), inside.begin(), inside.end());
        lines.push_back(indent + "  " + lines_[line].substr(body));
        const Lines behind = indented(insertion.after, indent + "  ");
        lines.insert(lines.end(), behind.begin(), behind.end());
        lines.push_back(indent + "}");
        replaced[line] = {line, 1, lines};
      } else if (is_body) {
        Lines lines = {indent + "{"};
        for (const Lines& part : {indented(insertion.before, indent),
                                  Lines(lines_.begin() + static_cast<std::ptrdiff_t>(begin),
                                        lines_.begin() + static_cast<std::ptrdiff_t>(end) + 1),
                                  indented(insertion.after, indent), Lines{indent + "}"}}) {
          lines.insert(lines.end(), part.begin(), part.end());
        }
        replaced[begin] = {begin, end - begin + 1, lines};
      } else {
        const Lines first = indented(insertion.before, indent);
        before[begin].insert(before[begin].end(), first.begin(), first.end());
        const bool opens = trimmed(lines_[end]).ends_with('{');
        const Lines last = indented(insertion.after, opens ? indent + "  " : indent);
        if (!last.empty()) {
          after[end + 1].insert(after[end + 1].end(), last.begin(), last.end());
        }
      }
    }
    changes_.push_back({first_code_line(), 0, declarations_});
    for (std::size_t line = 0; line <= lines_.size(); ++line) {
      Lines added;
      if (const auto found = after.find(line); found != after.end()) added = found->second;
      if (const auto found = before.find(line); found != before.end()) {
        added.insert(added.end(), found->second.begin(), found->second.end());
      }
      if (const auto found = replaced.find(line); found != replaced.end()) {
        added.insert(added.end(), found->second.added.begin(), found->second.added.end());
        changes_.push_back({line, found->second.removed, added});
      } else if (!added.empty()) {
        changes_.push_back({line, 0, added});
      }
    }
    std::erase_if(changes_, [](const Change& c) { return c.removed == 0 && c.added.empty(); });
    std::ranges::sort(changes_, {}, &Change::at);
  }

  /// Behind the comment a file begins with, and before all else: under -std=c11 the header wants to
  /// be the first.
  std::size_t first_code_line() const {
    std::size_t line = 0;
    bool in_comment = false;
    for (; line < lines_.size(); ++line) {
      const std::size_t at = lines_[line].find_first_not_of(" \t");
      const std::string_view text =
          at == std::string::npos ? std::string_view() : std::string_view(lines_[line]).substr(at);
      if (!in_comment && !text.empty() && !text.starts_with("//") && !text.starts_with("/*")) break;
      if (text.starts_with("/*")) in_comment = true;
      if (text.find("*/") != std::string_view::npos) in_comment = false;
    }
    return line;
  }

  std::string file_;
  Lines lines_;
  Lines declarations_;
  std::map<std::size_t, Insertion> insertions_;
  std::vector<Change> changes_;
};

std::string c_call(const trace::PinBreakpoint& breakpoint, const trace::PinSide& side,
                   const std::string& turn) {
  std::string text =
      fmt::format("heddle_bp_at(\"{}\", {}", breakpoint.name,
                  side.side == trace::kEitherSide ? "HEDDLE_ANY" : fmt::format("{}u", side.side));
  if (breakpoint.sides != 2) text += fmt::format(", .sides = {}", breakpoint.sides);
  text += fmt::format(", .pause_ms = {}", breakpoint.pause_ms);
  if (breakpoint.order_ms != 0) text += fmt::format(", .order_ms = {}", breakpoint.order_ms);
  text += fmt::format(", .bound = {}, .give_up = {}",
                      side.bound != 0 ? side.bound : breakpoint.bound, breakpoint.give_up);
  if (side.ignore_first != 0) text += fmt::format(", .ignore_first = {}", side.ignore_first);
  if (!turn.empty()) text += fmt::format(", .turn = &{}", turn);
  return text + ");";
}

std::string cpp_call(const trace::PinBreakpoint& breakpoint, const trace::PinSide& side,
                     const std::string& turn) {
  std::string text =
      fmt::format("heddle::breakpoint{}(\"{}\").pause(std::chrono::milliseconds({:.0f}))",
                  breakpoint.sides == 2 ? "" : fmt::format("<{}>", breakpoint.sides),
                  breakpoint.name, breakpoint.pause_ms);
  if (breakpoint.order_ms != 0) {
    text += fmt::format(".order(std::chrono::milliseconds({:.0f}))", breakpoint.order_ms);
  }
  text += fmt::format(".bound({}).give_up({})", side.bound != 0 ? side.bound : breakpoint.bound,
                      breakpoint.give_up);
  if (side.ignore_first != 0) text += fmt::format(".ignore_first({})", side.ignore_first);
  const std::string more = turn.empty() ? "" : ", " + turn;
  if (side.side == trace::kEitherSide) return text + fmt::format(".any({});", turn);
  return text + fmt::format(".side({}{});", side.side, more);
}

std::string counted(const std::string& call, std::uint32_t visit, bool c) {
  if (visit == 0) return call;
  return fmt::format("{{ static {} unsigned long visit; if (++visit == {}) {} }}",
                     c ? "_Thread_local" : "thread_local", visit, call);
}

}  // namespace

std::string pin_patch(const trace::Pins& pins, const SourceReader& read) {
  std::map<std::string, FilePatch> files;
  const auto file_of = [&](const std::string& name) -> FilePatch* {
    auto found = files.find(name);
    if (found == files.end()) {
      Lines lines = read(name);
      if (lines.empty()) return nullptr;
      found = files.try_emplace(name, name, std::move(lines)).first;
    }
    return &found->second;
  };
  for (std::size_t i = 0; i < pins.size(); ++i) {
    std::set<std::pair<std::string, std::uint32_t>> places;  // copies of a line are one line
    for (const trace::PinSide& side : pins[i].at) places.insert({side.at.file, side.at.line});
    const bool same_line = places.size() == 1 && pins[i].at.size() > 1;
    for (const trace::PinSide& given : pins[i].at) {
      trace::PinSide side = given;
      if (same_line) {
        // Which of them a thread is can no longer be told from where it is.
        if (&given != &pins[i].at.front()) break;
        side.side = trace::kEitherSide;
      }
      // What is between a wake-up and the return from the wait is no place in the source.
      if (side.moment == trace::PinMoment::Woken) return {};
      FilePatch* const file = file_of(side.at.file);
      if (file == nullptr) return {};
      const bool c = is_c(side.at.file);
      file->declare(c ? "#include <heddle/breakpoint_c.h>" : "#include <heddle/breakpoint.h>");
      std::string turn;
      // An action that ends in another file, or with its scope, is left to its few milliseconds.
      if (side.until && side.until->file == side.at.file) {
        const Lines lines = read(side.until->file);
        const std::uint32_t line = side.until->line;
        if (line > 0 && line <= lines.size() && !leaves_scope(lines[line - 1])) {
          turn = fmt::format("heddle_turn_{}", i + 1);
          file->declare(c ? fmt::format("static _Thread_local struct heddle_bp_turn {};", turn)
                          : fmt::format("static thread_local heddle::Turn {};", turn));
          if (!file->insert(line,
                            c ? fmt::format("heddle_bp_end_turn(&{});", turn)
                              : fmt::format("{}.end();", turn),
                            !side.until_before)) {
            return {};
          }
        }
      }
      const std::string call = c ? c_call(pins[i], side, turn) : cpp_call(pins[i], side, turn);
      if (!file->insert(side.at.line, counted(call, side.visit, c),
                        side.moment == trace::PinMoment::Behind))
        return {};
    }
  }
  std::string text;
  for (auto& [name, file] : files) text += file.diff();
  return text;
}

}  // namespace heddle::report
