// SPDX-License-Identifier: Apache-2.0
#include "report/text/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "abi/names.h"
#include "report/text/cell.h"
#include "report/text/entries.h"
#include "report/text/phrases.h"
#include "report/text/selection.h"
#include "trace/held_locks.h"
#include "trace/signature.h"
#include "trace/words.h"

namespace heddle::report {
namespace {

using trace::Event;
using trace::EventKind;
using trace::FailureKind;
using trace::kNone;
using trace::Trace;
using trace::Wait;

/// "bank.c:6 in pay".
std::string at(const Trace& trace, trace::SiteIndex site) {
  const trace::Frame* frame = trace::source_frame(trace, site);
  if (frame == nullptr) return "an unknown place";
  std::string place = fmt::format("{}:{}", trace::base_name(frame->file), frame->line);
  if (!frame->function.empty()) place += " in " + short_function(frame->function);
  return place;
}

std::string memory(const Trace& trace, const Wait& wait) {
  return short_memory_name(trace, wait.object, wait.offset);
}

std::string join_with_and(const std::vector<std::string>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i)
    out += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return out;
}

/// "holds a (taken at bank.c:6 in pay) and ": what others wait for it to give.
std::string holdings(const Trace& trace, trace::ThreadId thread) {
  std::vector<std::string> held;
  for (const Wait& wait : trace.outcome.waits) {
    if (wait.holder != thread || wait.object == kNone) continue;
    std::string part = memory(trace, wait);
    if (wait.holder_site != kNone)
      part += fmt::format(" (taken at {})", at(trace, wait.holder_site));
    if (std::find(held.begin(), held.end(), part) == held.end()) held.push_back(part);
  }
  return held.empty() ? "" : fmt::format("holds {} and ", join_with_and(held));
}

/// What the threads held when the run failed, besides what the waits have told.
std::vector<std::string> further_holdings(const Trace& trace) {
  std::vector<std::string> sentences;
  for (const trace::HeldLock& lock : trace::held_locks(trace)) {
    const bool told = std::ranges::any_of(trace.outcome.waits, [&](const Wait& wait) {
      return wait.holder == lock.thread && wait.object == lock.object && wait.offset == lock.offset;
    });
    if (told) continue;
    sentences.push_back(
        fmt::format("{} holds {}, taken at {}.", trace::thread_name(trace, lock.thread),
                    short_memory_name(trace, lock.object, lock.offset), at(trace, lock.site)));
  }
  return sentences;
}

/// The last signal on what `wait` waits on that woke nobody.
const Event* signal_in_vain(const Trace& trace, const Event& wait) {
  const Event* found = nullptr;
  for (const Event& event : trace.events)
    if ((event.kind == EventKind::CondSignal || event.kind == EventKind::CondBroadcast) &&
        event.object == wait.object && event.offset == wait.offset && event.value == 0)
      found = &event;
  return found;
}

std::string sentence(const Trace& trace, const Wait& wait) {
  std::string who =
      fmt::format("{} {}", trace::thread_name(trace, wait.thread), holdings(trace, wait.thread));
  if (wait.kind == EventKind::ThreadJoin)
    return fmt::format("{}waits for {} to end, at {}.", who, trace::thread_name(trace, wait.holder),
                       at(trace, wait.site));
  const Event* waiting = unfinished_wait(trace, wait.thread);
  if (waiting != nullptr && wait.holder == kNone) {
    std::string name = short_memory_name(trace, waiting->object, waiting->offset);
    std::string text = fmt::format("{}waits on {}, at {}, and nobody is left to signal it.", who,
                                   name, at(trace, wait.site));
    if (const Event* vain = signal_in_vain(trace, *waiting))
      text += fmt::format(" {} was signalled by {} at {}, when nobody waited.", name,
                          trace::thread_name(trace, vain->thread), at(trace, vain->site));
    return text;
  }
  std::string what = wait.object == kNone ? abi::name_of(wait.kind) : memory(trace, wait);
  std::string held = wait.holder == kNone ? ""
                     : wait.holder == wait.thread
                         ? ", which it holds itself"
                         : ", held by " + trace::thread_name(trace, wait.holder);
  return fmt::format("{}waits for {}{}, at {}.", who, what, held, at(trace, wait.site));
}

/// The event that freed what the failing event used.
const Event* freeing_event(const Trace& trace, std::size_t failing) {
  const Event* found = nullptr;
  for (std::size_t i = 0; i < failing; ++i)
    if (trace.events[i].kind == EventKind::HeapFree &&
        trace.events[i].object == trace.events[failing].object)
      found = &trace.events[i];
  return found;
}

std::vector<std::string> freed_memory(const Trace& trace) {
  std::optional<std::size_t> failing = failing_event(trace);
  if (!failing) return {};
  const Event& event = trace.events[*failing];
  const char* does = trace.outcome.kind == FailureKind::DoubleFree ? "frees" : "uses";
  std::string text = fmt::format("{} {} {}, at {}", trace::thread_name(trace, event.thread), does,
                                 short_memory_name(trace, event.object, event.offset),
                                 at(trace, trace.outcome.site));
  const Event* freed = freeing_event(trace, *failing);
  if (freed != nullptr)
    text += fmt::format("; {} had freed it, at {}", trace::thread_name(trace, freed->thread),
                        at(trace, freed->site));
  else if (trace.outcome.related_site != kNone)
    text += fmt::format("; it was freed at {}", at(trace, trace.outcome.related_site));
  return {text + "."};
}

std::string what_happened(const trace::Outcome& outcome) {
  std::string text = abi::sentence_of(outcome.kind);
  if (outcome.kind == FailureKind::Exit) text += fmt::format(": {}", outcome.exit_code);
  if (outcome.kind == FailureKind::Signal) {
    const char* name = sigabbrev_np(outcome.signal);
    text += name != nullptr ? fmt::format(": SIG{}", name) : fmt::format(": {}", outcome.signal);
  }
  if (!outcome.message.empty()) text += ": " + outcome.message;
  return text;
}

}  // namespace

std::vector<std::string> headline(const Trace& trace, const Style& style) {
  const trace::Outcome& outcome = trace.outcome;
  std::vector<std::string> lines = {printable(what_happened(outcome), style.unicode)};
  if (!outcome.failed()) return lines;
  trace::Signature signature = trace::signature_of(trace);
  std::vector<std::string> places;
  for (const trace::Place& place : signature.places) {
    std::string text = fmt::format("{}:{}", place.file, place.line);
    if (!place.function.empty()) text += " in " + short_function(place.function);
    places.push_back(text);
  }
  std::string where;
  if (!places.empty()) where = "at " + join_with_and(places);
  // Of those who wait for each other none is to blame alone.
  if (outcome.thread != kNone && outcome.waits.empty() && !where.empty())
    where += ", thread " + trace::thread_name(trace, outcome.thread);
  if (!where.empty()) lines.push_back(printable(where, style.unicode));
  return lines;
}

std::vector<std::string> explanation(const Trace& trace, const Style& style) {
  std::vector<std::string> sentences;
  if (trace.outcome.kind == FailureKind::UseAfterFree ||
      trace.outcome.kind == FailureKind::DoubleFree)
    sentences = freed_memory(trace);
  // The cycle first; who only waits for one of its threads comes after.
  std::vector<Wait> waits = trace::cycle_of(trace.outcome.waits);
  for (const Wait& wait : trace.outcome.waits)
    if (std::find(waits.begin(), waits.end(), wait) == waits.end()) waits.push_back(wait);
  for (const Wait& wait : waits) sentences.push_back(sentence(trace, wait));
  if (trace.outcome.failed()) {
    for (std::string& text : further_holdings(trace)) sentences.push_back(std::move(text));
  }
  for (std::string& text : sentences) text = printable(text, style.unicode);
  return sentences;
}

}  // namespace heddle::report
