// SPDX-License-Identifier: Apache-2.0
#include "trace/schedule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "abi/names.h"
#include "base/error.h"
#include "trace/file.h"
#include "trace/text_words.h"

namespace heddle::trace {
namespace {

using abi::DecisionKind;
using abi::EventKind;

constexpr std::string_view kMagic = "heddle-schedule";
// Where comments begin; a longer decision pushes its own further right.
constexpr std::size_t kCommentColumn = 64;

template <typename Number>
bool to_number(std::string_view text, Number& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// t0, t0.2, t0.2.1: children count from 1. t0.2~ is the flusher of t0.2.
bool is_thread_path(std::string_view path) {
  if (!path.starts_with("t0")) return false;
  path.remove_prefix(2);
  if (path.ends_with('~')) path.remove_suffix(1);
  while (!path.empty()) {
    if (path.front() != '.') return false;
    path.remove_prefix(1);
    std::string_view number = path.substr(0, std::min(path.find('.'), path.size()));
    std::uint32_t ordinal = 0;
    if (!to_number(number, ordinal) || number.front() == '0') return false;
    path.remove_prefix(number.size());
  }
  return true;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view file_name) : rest_(text), file_(file_name) {}

  Schedule parse() {
    first_line();
    bool program = false, build_id = false, memory_model = false, ends = false;
    while (next_line()) {
      const std::string& keyword = line_.words[0];
      if (keyword == "switch" || keyword == "value") {
        require_headers(program, build_id, memory_model);
        schedule_.decisions.push_back(decision());
      } else if (keyword == "end") {
        require_headers(program, build_id, memory_model);
        end();
        return std::move(schedule_);
      } else if (!schedule_.decisions.empty()) {
        fail("`switch`, `value` or `end`", keyword);
      } else if (keyword == "program") {
        schedule_.program = header(program);
      } else if (keyword == "build-id") {
        schedule_.build_id = header(build_id);
      } else if (keyword == "memory-model") {
        schedule_.memory_model = header(memory_model);
      } else if (keyword == "argument") {
        bool seen = false;
        schedule_.arguments.push_back(header(seen));
      } else if (keyword == "absent") {
        bool seen = false;
        schedule_.absent_threads.push_back(header(seen));
        if (!is_thread_path(schedule_.absent_threads.back()))
          fail("a thread such as t0.1", schedule_.absent_threads.back());
      } else if (keyword == "skip" && version_ >= 2) {
        schedule_.skipped.push_back(skipped());
      } else if (keyword == "overlook" && version_ >= 4) {
        bool seen = false;
        schedule_.overlooked.push_back(header(seen));
      } else if (keyword == "ends" && version_ >= 3) {
        schedule_.ends_with = header(ends);
        if (!is_thread_path(schedule_.ends_with))
          fail("a thread such as t0.1", schedule_.ends_with);
      } else {
        fail(
            "`program`, `build-id`, `memory-model`, `argument`, `absent`, `skip`, "
            "`overlook`, `ends`, `switch`, `value` or `end`",
            keyword);
      }
    }
    throw user_error(fmt::format(
        "{}: cut off after line {}: expected {} `end {}`; take another copy of the file", file_,
        number_, schedule_.decisions.empty() ? "decisions and" : "more decisions or",
        schedule_.decisions.size()));
  }

 private:
  [[noreturn]] void fail(std::string_view expected, std::string_view found) const {
    throw user_error(
        fmt::format("{}:{}: expected {}, found {}; correct that line, or make the schedule "
                    "again (`heddle explore`)",
                    file_, number_, expected, found.empty() ? "nothing" : to_quoted(found)));
  }

  void first_line() {
    if (rest_.find_first_not_of(" \t\r\n") == std::string_view::npos)
      throw user_error(
          fmt::format("{}:1: expected `{} {}`, but the file is empty; `heddle ls` lists the runs",
                      file_, kMagic, kScheduleVersion));
    std::string_view line = take_line();
    TextLine words = split_line(line);
    unsigned version = 0;
    if (!words.problem.empty() || words.words.size() != 2 || words.words[0] != kMagic ||
        !to_number(words.words[1], version) || version == 0)
      throw user_error(
          fmt::format("{}:1: not a Heddle schedule: expected `{} {}` as the first line; "
                      "`heddle ls` lists the runs",
                      file_, kMagic, kScheduleVersion));
    version_ = version;
    if (version > kScheduleVersion)
      throw user_error(
          fmt::format("{}:1: schedule of format version {}, this Heddle reads up to {}; update "
                      "Heddle",
                      file_, version, kScheduleVersion));
  }

  std::string_view take_line() {
    ++number_;
    std::string_view line = rest_.substr(0, std::min(rest_.find('\n'), rest_.size()));
    rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
    return line;
  }

  /// The next line that holds a word.
  bool next_line() {
    while (!rest_.empty()) {
      line_ = split_line(take_line());
      position_ = 1;
      if (!line_.problem.empty())
        throw user_error(
            fmt::format("{}:{}: expected words, found {}; correct that line, or make the schedule "
                        "again (`heddle explore`)",
                        file_, number_, line_.problem));
      if (!line_.words.empty()) return true;
    }
    return false;
  }

  std::string_view peek() const {
    return position_ < line_.words.size() ? std::string_view(line_.words[position_])
                                          : std::string_view();
  }

  /// Presence is by position, not by content: an empty quoted word is a word.
  const std::string& word(std::string_view expected) {
    if (position_ >= line_.words.size()) fail(expected, "");
    return line_.words[position_++];
  }

  void literal(std::string_view text) {
    const std::string& found = word(fmt::format("`{}`", text));
    if (found != text) fail(fmt::format("`{}`", text), found);
  }

  template <typename Number>
  Number number(std::string_view prefix, std::string_view expected) {
    const std::string& found = word(expected);
    std::string_view digits = found;
    Number value = 0;
    if (!digits.starts_with(prefix) || !to_number(digits.substr(prefix.size()), value))
      fail(expected, found);
    return value;
  }

  std::string thread() {
    constexpr std::string_view expected = "a thread such as t0.2";
    const std::string& found = word(expected);
    if (!is_thread_path(found)) fail(expected, found);
    return found;
  }

  EventKind event_kind() {
    constexpr std::string_view expected = "an event such as mutex_lock";
    const std::string& found = word(expected);
    EventKind kind = EventKind::None;
    // An embedded NUL would end the name early.
    bool known = found.find('\0') == std::string::npos &&
                 (found == abi::name_of(kind) || abi::event_from_name(found.c_str(), kind));
    if (!known) fail(expected, found);
    return kind;
  }

  void end_of_line() {
    if (position_ < line_.words.size()) fail("the end of the line", line_.words[position_]);
  }

  std::string header(bool& seen) {
    if (seen) fail(fmt::format("only one `{}` line", line_.words[0]), line_.words[0]);
    seen = true;
    std::string value = word(fmt::format("a word after `{}`", line_.words[0]));
    end_of_line();
    return value;
  }

  void require_headers(bool program, bool build_id, bool memory_model) {
    if (program && build_id && memory_model) return;
    fail(fmt::format("a `{}` line before this one", !program    ? "program"
                                                    : !build_id ? "build-id"
                                                                : "memory-model"),
         line_.words[0]);
  }

  Decision decision() {
    Decision result;
    result.kind = line_.words[0] == "switch" ? DecisionKind::Thread : DecisionKind::Value;
    result.thread = thread();
    result.ordinal = number<std::uint64_t>("@", "the thread's event number such as @12");
    result.site = word("a site such as worker+3.load.1");
    result.occurrence = number<std::uint32_t>("#", "the occurrence at the site such as #4");
    result.pending = event_kind();
    if (peek() == "preempt") {
      result.preemption = true;
      ++position_;
    }
    literal("->");
    if (result.kind == DecisionKind::Thread) {
      result.target = thread();
      if (peek() == "of") {
        ++position_;
        result.bound = number<std::uint32_t>("", "the number of threads that could go on");
      }
    } else {
      result.value = number<std::uint32_t>("", "a number");
      literal("of");
      result.bound = number<std::uint32_t>("", "a number");
      if (result.value >= result.bound)
        fail(fmt::format("a bound above {}", result.value), std::to_string(result.bound));
    }
    end_of_line();
    result.where = line_.comment;
    return result;
  }

  SkippedIterations skipped() {
    SkippedIterations result;
    result.thread = thread();
    result.site = word("a site such as worker+3.call.1");
    result.first = number<std::uint32_t>("#", "the first iteration to skip such as #4");
    result.last = number<std::uint32_t>("#", "the last iteration to skip such as #9");
    if (result.first == 0 || result.last < result.first)
      fail(fmt::format("a last iteration from {} on", std::max(result.first, 1u)),
           std::to_string(result.last));
    if (version_ >= 3 && peek() == "creates") {
      ++position_;
      result.creates = number<std::uint16_t>("", "a number of threads such as 1");
    }
    if (version_ >= 3 && peek() == "at-once") {
      ++position_;
      result.at_once = true;
    }
    end_of_line();
    return result;
  }

  void end() {
    auto count = number<std::uint64_t>("", "the number of decisions");
    end_of_line();
    if (count != schedule_.decisions.size())
      fail(fmt::format("`end {}` after as many decisions", schedule_.decisions.size()),
           fmt::format("end {}", count));
    if (next_line()) fail("nothing after `end`", line_.words[0]);
  }

  std::string_view rest_;
  std::string file_;
  std::size_t number_ = 0;
  unsigned version_ = 1;
  TextLine line_;
  std::size_t position_ = 1;
  Schedule schedule_;
};

/// The first that can say all of it: what is old enough can be read by whoever is.
unsigned version_of(const Schedule& schedule) {
  if (!schedule.overlooked.empty()) return 4;
  if (!schedule.ends_with.empty()) return 3;
  if (schedule.skipped.empty()) return 1;
  const bool says_more =
      std::any_of(schedule.skipped.begin(), schedule.skipped.end(),
                  [](const SkippedIterations& skip) { return skip.creates != 0 || skip.at_once; });
  return says_more ? 3 : 2;
}

std::string to_text(const SkippedIterations& skip) {
  std::string line =
      fmt::format("skip {} {} #{} #{}", skip.thread, to_word(skip.site), skip.first, skip.last);
  if (skip.creates != 0) line += fmt::format(" creates {}", skip.creates);
  if (skip.at_once) line += " at-once";
  return line;
}

}  // namespace

std::string to_text(const Decision& decision) {
  bool is_switch = decision.kind == DecisionKind::Thread;
  if (!is_thread_path(decision.thread) || (is_switch && !is_thread_path(decision.target)))
    throw defect(fmt::format("a decision of thread {} for thread {}", to_quoted(decision.thread),
                             to_quoted(decision.target)));
  if (!is_switch && decision.value >= decision.bound)
    throw defect(fmt::format("a decision for {} of {}", decision.value, decision.bound));
  if (abi::name_of(decision.pending) == nullptr)
    throw defect(fmt::format("a decision before an event of unknown kind {}",
                             static_cast<unsigned>(decision.pending)));
  std::string target = is_switch ? decision.target : std::to_string(decision.value);
  if (!is_switch || decision.bound != 0) target += fmt::format(" of {}", decision.bound);
  return fmt::format("{:<6} {} @{} {} #{} {}{} -> {}", is_switch ? "switch" : "value",
                     decision.thread, decision.ordinal, to_word(decision.site), decision.occurrence,
                     abi::name_of(decision.pending), decision.preemption ? " preempt" : "", target);
}

std::string to_text(const Schedule& schedule) {
  std::string out = fmt::format("{} {}\n", kMagic, version_of(schedule));
  out += fmt::format("program {}\n", to_word(schedule.program));
  out += fmt::format("build-id {}\n", to_word(schedule.build_id));
  out += fmt::format("memory-model {}\n", to_word(schedule.memory_model));
  for (const std::string& argument : schedule.arguments)
    out += fmt::format("argument {}\n", to_word(argument));
  for (const std::string& thread : schedule.absent_threads)
    out += fmt::format("absent {}\n", thread);
  for (const SkippedIterations& skip : schedule.skipped) out += to_text(skip) + '\n';
  for (const std::string& site : schedule.overlooked)
    out += fmt::format("overlook {}\n", to_word(site));
  if (!schedule.ends_with.empty()) out += fmt::format("ends {}\n", schedule.ends_with);
  out += '\n';
  for (const Decision& decision : schedule.decisions) {
    std::string line = to_text(decision);
    if (!decision.where.empty())
      line = fmt::format("{:<{}} # {}", line, kCommentColumn, to_comment(decision.where));
    out += line + '\n';
  }
  return out + fmt::format("end {}\n", schedule.decisions.size());
}

Schedule parse_schedule(std::string_view text, std::string_view file_name) {
  return Parser(text, file_name).parse();
}

Schedule read_schedule(const std::filesystem::path& path) {
  return parse_schedule(read_file(path), path.string());
}

}  // namespace heddle::trace
