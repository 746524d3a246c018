// SPDX-License-Identifier: Apache-2.0
#include "report/text/phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "abi/locks.h"
#include "abi/names.h"
#include "report/text/cell.h"
#include "trace/words.h"

namespace heddle::report {
namespace {

using trace::Event;
using trace::EventKind;
using trace::kNone;
using trace::ObjectKind;
using trace::Trace;

constexpr std::uint32_t kMaxPlainBytes = 8;  // longer accesses carry a hash
constexpr std::int64_t kSmallestNegative = -65536;

std::string error_name(std::uint64_t error) {
  const char* name = strerrorname_np(static_cast<int>(error));
  return name != nullptr ? name : fmt::format("error {}", error);
}

/// "locks a", or "fails to lock a (EDEADLK)".
std::string attempt(const char* does, const char* to_do, const std::string& what,
                    std::uint64_t error) {
  if (error == 0) return fmt::format("{} {}", does, what);
  return fmt::format("fails to {} {} ({})", to_do, what, error_name(error));
}

/// Everything that is locked, taken, reached or waited on without a value; else empty.
std::string lock_phrase(const Event& event, const std::string& memory) {
  switch (abi::locking_of(event.kind)) {
    case abi::Locking::Takes: return attempt("locks", "lock", memory, event.value);
    case abi::Locking::Shares: return attempt("shares", "share", memory, event.value);
    case abi::Locking::Releases: return attempt("unlocks", "unlock", memory, event.value);
    case abi::Locking::Waits:
    case abi::Locking::None: break;
  }
  switch (event.kind) {
    case EventKind::MutexDestroy:
    case EventKind::SemDestroy:
    case EventKind::RwlockDestroy:
    case EventKind::BarrierDestroy:
    case EventKind::CondDestroy: return attempt("destroys", "destroy", memory, event.value);
    case EventKind::MutexConsistent: return attempt("repairs", "repair", memory, event.value);
    case EventKind::SemWait:
    case EventKind::SemTrywait:
      return attempt("takes", "take", memory, event.value) + fmt::format(", {} left", event.aux);
    case EventKind::SemPost:
      return attempt("posts", "post", memory, event.value) + fmt::format(", {} left", event.aux);
    case EventKind::BarrierWait:
      return fmt::format("reaches {}{}", memory, event.value == 1 ? ", the last" : "");
    case EventKind::BarrierLeave: return "passes " + memory;
    case EventKind::OnceBegin:
      return fmt::format("{} {}", event.value == 1 ? "begins" : "finds done", memory);
    case EventKind::OnceEnd:
      return fmt::format("{} {}", event.value == 0 ? "completes" : "gives up", memory);
    case EventKind::FutexWait:
      return (event.value == 0 ? "waits on " : "need not wait on ") + memory;
    case EventKind::FutexResume:
      return (event.value == 0 ? "is woken on " : "times out on ") + memory;
    case EventKind::FutexWake: return fmt::format("wakes {} on {}", event.value, memory);
    case EventKind::FutexRequeue:
      return fmt::format("wakes {} on {}, moves {}", event.value, memory, event.aux);
    case EventKind::BreakpointPause:
      return event.value == 1 ? "goes on at a breakpoint" : "waited at a breakpoint in vain";
    case EventKind::BreakpointFollow: return "follows at a breakpoint";
    default: return "";
  }
}

const char* cond_wake_reason(std::uint64_t result) {
  switch (result) {
    case 0: return "is woken";
    case ETIMEDOUT: return "times out";
    case EINTR: return "wakes for no reason";
    default: return "is cancelled";
  }
}

std::string duration(std::uint64_t nanoseconds) {
  if (nanoseconds % 1000000000 == 0) return fmt::format("{} s", nanoseconds / 1000000000);
  if (nanoseconds % 1000000 == 0) return fmt::format("{} ms", nanoseconds / 1000000);
  if (nanoseconds % 1000 == 0) return fmt::format("{} us", nanoseconds / 1000);
  return fmt::format("{} ns", nanoseconds);
}

}  // namespace

std::string short_memory_name(const Trace& trace, trace::ObjectIndex object, std::uint64_t offset) {
  if (object >= trace.objects.size()) return "memory";
  const trace::Object& named = trace.objects[object];
  std::string name = named.name;
  // The site in parentheses matters only to tell allocations with the same count apart, which
  // thread and count already do.
  if (named.kind == ObjectKind::Heap) name = name.substr(0, name.find(" ("));
  // Stacks grow down from their end, so a local's distance from there is the short number.
  if (named.kind == ObjectKind::Stack && offset < named.size)
    return fmt::format("{}-{}", name, named.size - offset);
  return offset == 0 ? name : fmt::format("{}+{}", name, offset);
}

std::string human_value(std::uint64_t value, std::uint32_t size) {
  if (size == 0 || size > kMaxPlainBytes) return fmt::format("#{:08x}", value >> 32);
  unsigned unused = 64 - 8 * size;
  auto as_signed = static_cast<std::int64_t>(value << unused) >> unused;
  if (as_signed < 0 && as_signed >= kSmallestNegative && size >= 4)
    return fmt::format("{}", as_signed);
  if (value >> 32 != 0) return fmt::format("{:#x}", value);
  return fmt::format("{}", value);
}

Phrases::Phrases(const Trace& trace, const Style& style) : trace_(trace), style_(style) {
  auto model = trace.header.options.find("memory_model");
  buffers_ = model != trace.header.options.end() && model->second != "sc";
}

std::string Phrases::memory(const Event& event) const {
  return printable(short_memory_name(trace_, event.object, event.offset), style_.unicode);
}

std::string Phrases::change(const std::string& name, const std::string& before,
                            const std::string& after) const {
  return fmt::format("{} = {} {} {}", name, before, style_.glyphs().becomes, after);
}

std::string Phrases::tell(const Event& event) {
  std::string before;
  auto known = known_.find({event.object, event.offset});
  if (known != known_.end() && known->second.size == event.size)
    before = human_value(known->second.value, event.size);
  remember(event);

  switch (event.kind) {
    case EventKind::ThreadStart: return "starts";
    case EventKind::ThreadExit: return "ends";
    case EventKind::ThreadCreate: return "creates " + trace::thread_name(trace_, event.value);
    case EventKind::ThreadJoin: return "joins " + trace::thread_name(trace_, event.value);
    case EventKind::ThreadDetach: return "detaches " + trace::thread_name(trace_, event.value);
    case EventKind::ThreadCancel: return "cancels " + trace::thread_name(trace_, event.value);
    case EventKind::ThreadTryjoin:
      return attempt("joins", "join", trace::thread_name(trace_, event.value), event.aux);
    case EventKind::ThreadSignal:
      return fmt::format("sends signal {} to {}", event.aux,
                         trace::thread_name(trace_, event.value));
    case EventKind::ThreadTestcancel: return "looks whether it is cancelled";
    case EventKind::Load:
    case EventKind::AtomicLoad:
      return fmt::format("reads {} = {}", memory(event), human_value(event.value, event.size));
    case EventKind::Store:
    case EventKind::AtomicStore:
      if (is_buffered(event))
        return fmt::format("buffers {} = {}", memory(event), human_value(event.value, event.size));
      if (before.empty())
        return fmt::format("writes {} = {}", memory(event), human_value(event.value, event.size));
      return change(memory(event), before, human_value(event.value, event.size));
    case EventKind::AtomicRmw:
      return change(memory(event), human_value(event.value, event.size),
                    human_value(event.aux, event.size));
    case EventKind::AtomicCas:
      if (event.aux == event.value)
        return fmt::format("finds {} = {}, keeps it", memory(event),
                           human_value(event.value, event.size));
      return change(memory(event), human_value(event.value, event.size),
                    human_value(event.aux, event.size));
    case EventKind::Flush:
      return before.empty()
                 ? fmt::format("{} = {} for all", memory(event),
                               human_value(event.value, event.size))
                 : change(memory(event), before, human_value(event.value, event.size)) + " for all";
    case EventKind::Fence: return fmt::format("fence ({})", trace::memory_order_name(event.value));
    case EventKind::RangeRead:
      return fmt::format("reads {} bytes of {}", event.size, memory(event));
    case EventKind::RangeWrite:
      return fmt::format("writes {} bytes of {}", event.size, memory(event));
    case EventKind::CondWait: return "waits on " + memory(event);
    case EventKind::CondWake:
      return fmt::format("{} on {}", cond_wake_reason(event.value), memory(event));
    case EventKind::CondSignal:
      return fmt::format(
          "signals {}, {}", memory(event),
          event.aux == 0 ? "nobody waits" : "wakes " + trace::thread_name(trace_, event.aux - 1));
    case EventKind::CondBroadcast:
      return fmt::format("signals {}, wakes {}", memory(event), event.value);
    case EventKind::HeapFree: return "frees " + memory(event);
    case EventKind::Yield: return "yields";
    case EventKind::Sleep: return "sleeps " + duration(event.value);
    case EventKind::Descriptor:
      return fmt::format("waits for input or output, gets {}", human_value(event.value, 8));
    case EventKind::ProcessWait:
      return fmt::format("waits for a process, gets {}", human_value(event.value, 8));
    case EventKind::IterationBegin: return fmt::format("iteration {}", event.value);
    case EventKind::IterationEnd: return "end of the iteration";
    case EventKind::SignalWait: return fmt::format("waits for a signal, gets {}", event.value);
    default: break;
  }
  std::string phrase = lock_phrase(event, memory(event));
  // A kind without a phrase of its own is still told.
  return phrase.empty() ? trace::describe(trace_, event) : phrase;
}

std::string Phrases::tell(const trace::Wait& wait) const {
  if (wait.kind == EventKind::ThreadJoin)
    return fmt::format("waits for {} to end", trace::thread_name(trace_, wait.holder));
  if (const Event* last = unfinished_wait(trace_, wait.thread);
      last != nullptr && wait.holder == kNone)
    return "is never woken";
  if (wait.object == kNone) return "waits";
  return "waits for " +
         printable(short_memory_name(trace_, wait.object, wait.offset), style_.unicode);
}

void Phrases::forget(const Event& event) {
  // What begins up to 7 bytes before may reach into the bytes written.
  std::uint64_t from = event.offset - std::min<std::uint64_t>(event.offset, kMaxPlainBytes - 1);
  auto at = known_.lower_bound({event.object, from});
  while (at != known_.end() && at->first.first == event.object &&
         (at->first.second < event.offset || at->first.second - event.offset < event.size)) {
    bool overlaps = at->first.second + at->second.size > event.offset;
    at = overlaps ? known_.erase(at) : std::next(at);
  }
}

/// Under a store-buffer model nobody else sees a store yet; a thread's own stack is not buffered.
bool Phrases::is_buffered(const Event& event) const {
  return buffers_ && (event.kind == EventKind::Store || event.kind == EventKind::AtomicStore) &&
         event.object != kNone && trace_.objects[event.object].kind != ObjectKind::Stack;
}

void Phrases::remember(const Event& event) {
  // What a thread with pending stores reads may be its own, so it says nothing about memory.
  if (event.object == kNone || is_buffered(event) ||
      (buffers_ && abi::access_of(event.kind) == abi::Access::Read))
    return;
  switch (abi::access_of(event.kind)) {
    case abi::Access::Read:
      if (event.kind == EventKind::RangeRead) return;
      break;
    case abi::Access::Write:
    case abi::Access::Update: forget(event); break;
    default: return;
  }
  if (event.kind == EventKind::RangeWrite || event.kind == EventKind::HeapFree || event.size == 0 ||
      event.size > kMaxPlainBytes)
    return;
  bool updates = abi::access_of(event.kind) == abi::Access::Update;
  known_[{event.object, event.offset}] = {event.size, updates ? event.aux : event.value};
}

const Event* unfinished_wait(const Trace& trace, trace::ThreadId thread) {
  auto last = std::find_if(trace.events.rbegin(), trace.events.rend(),
                           [thread](const Event& event) { return event.thread == thread; });
  if (last == trace.events.rend() || last->kind != EventKind::CondWait) return nullptr;
  return &*last;
}

}  // namespace heddle::report
