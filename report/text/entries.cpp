// SPDX-License-Identifier: Apache-2.0
#include "report/text/entries.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <set>

#include "report/text/cell.h"
#include "report/text/phrases.h"
#include "report/text/selection.h"
#include "trace/words.h"

namespace heddle::report {
namespace {

using trace::FailureKind;
using trace::Outcome;
using trace::Trace;

class Writer {
 public:
  Writer(const Trace& trace, const TimelineOptions& options)
      : trace_(trace), options_(options), phrases_(trace, options.style) {}

  std::vector<Entry> write() {
    std::optional<std::size_t> failing = failing_event(trace_);
    for (const Row& row : select_rows(trace_, options_.events, options_.shown)) {
      if (row.left_out)
        gap(row);
      else
        event(row.first, failing == row.first);
    }
    for (const trace::Wait& wait : trace_.outcome.waits) {
      Entry& entry = ending(wait.thread, phrases_.tell(wait));
      locate(entry, wait.site);
    }
    return std::move(entries_);
  }

 private:
  /// What is not told has happened nevertheless.
  void skip_to(std::size_t index) {
    for (; next_ < index; ++next_) phrases_.skip(trace_.events[next_]);
  }

  void event(std::size_t index, bool failing) {
    skip_to(index);
    next_ = index + 1;
    const trace::Event& event = trace_.events[index];
    Entry& entry = entries_.emplace_back();
    entry.thread = event.thread;
    entry.position = index;
    entry.phrase = phrases_.tell(event);
    locate(entry, event.site);
    if (!failing) return;
    std::string last_words = how_it_failed();
    if (last_words.empty()) {
      entry.fails = true;  // the event itself is the failure
      return;
    }
    Entry& end = ending(trace_.outcome.thread, last_words);
    locate_failure(end);
  }

  void gap(const Row& row) {
    std::set<trace::ThreadId> threads;
    std::size_t end = row.first;
    for (std::size_t count = 0; count < row.count; ++end) {
      if (!options_.shown.empty() && !options_.shown[end]) continue;
      threads.insert(trace_.events[end].thread);
      ++count;
    }
    skip_to(end);
    Entry& entry = entries_.emplace_back();
    entry.kind = Entry::Kind::Gap;
    entry.position = row.first;
    entry.phrase = fmt::format("{} {} more events", options_.style.glyphs().ellipsis, row.count);
    if (threads.size() == 1)
      entry.thread = *threads.begin();
    else
      entry.phrase += fmt::format(" of {} threads", threads.size());
  }

  Entry& ending(trace::ThreadId thread, std::string phrase) {
    Entry& entry = entries_.emplace_back();
    entry.kind = Entry::Kind::Ending;
    entry.thread = thread;
    entry.position = trace_.events.size();
    entry.phrase = std::move(phrase);
    entry.fails = true;
    return entry;
  }

  /// Empty when the failing event says it all.
  std::string how_it_failed() const {
    const Outcome& outcome = trace_.outcome;
    switch (outcome.kind) {
      case FailureKind::Assert: return "assertion fails";
      case FailureKind::Exception: return "exception not caught";
      case FailureKind::Exit: return fmt::format("exits with {}", outcome.exit_code);
      case FailureKind::Signal: {
        const char* name = sigabbrev_np(outcome.signal);
        return name != nullptr ? fmt::format("SIG{}", name)
                               : fmt::format("signal {}", outcome.signal);
      }
      default: return "";
    }
  }

  void locate(Entry& entry, trace::SiteIndex site) const {
    if (const trace::Frame* frame = trace::source_frame(trace_, site))
      locate(entry, frame->file, frame->line, frame->function);
  }

  void locate_failure(Entry& entry) const {
    const Outcome& outcome = trace_.outcome;
    if (outcome.kind == FailureKind::Exit) return;  // known by its status, not by a place
    locate(entry, outcome.site);
    if (outcome.file.empty()) return;
    // The program's own words may lack the directory that the site knows.
    std::string file = outcome.file;
    const trace::Frame* frame = trace::source_frame(trace_, outcome.site);
    if (frame != nullptr && trace::base_name(frame->file) == trace::base_name(file))
      file = frame->file;
    locate(entry, file, outcome.line, outcome.function);
  }

  void locate(Entry& entry, const std::string& file, std::uint32_t line,
              const std::string& function) const {
    bool unicode = options_.style.unicode;
    entry.place = printable(fmt::format("{}:{}", trace::base_name(file), line), unicode);
    entry.function = printable(short_function(function), unicode);
    if (options_.source_line) entry.source = printable(options_.source_line(file, line), unicode);
  }

  const Trace& trace_;
  const TimelineOptions& options_;
  Phrases phrases_;
  std::size_t next_ = 0;  // the event to be told or skipped next
  std::vector<Entry> entries_;
};

}  // namespace

std::string short_function(const std::string& function) {
  std::size_t end = function.rfind(')');
  if (end == std::string::npos) return function;
  int depth = 0;
  for (std::size_t i = end + 1; i-- > 0;) {
    if (function[i] == ')') ++depth;
    if (function[i] == '(' && --depth == 0) return i == 0 ? function : function.substr(0, i);
  }
  return function;
}

std::vector<Entry> make_entries(const Trace& trace, const TimelineOptions& options) {
  return Writer(trace, options).write();
}

}  // namespace heddle::report
