// SPDX-License-Identifier: Apache-2.0
#include "trace/words.h"

#include <fmt/format.h>

#include <cerrno>

#include "abi/names.h"

namespace heddle::trace {
namespace {

/// Accesses longer than this store a hash of their bytes instead of the bytes.
constexpr std::uint32_t kMaxPlainBytes = 8;

std::string value_text(std::uint64_t value, std::uint32_t size) {
  return size > kMaxPlainBytes ? fmt::format("hash {:016x}", value) : fmt::format("{}", value);
}

std::string bytes_text(std::uint32_t size) {
  return fmt::format("({} byte{})", size, size == 1 ? "" : "s");
}

const char* wake_reason(std::uint64_t value) {
  switch (value) {
    case 0: return " signalled";
    case EINTR: return " for no reason";
    case ECANCELED: return " cancelled";
    default: return " timed out";
  }
}

/// What follows the kind and the memory.
std::string details(const Trace& trace, const Event& event) {
  switch (event.kind) {
    case EventKind::ThreadCreate:
    case EventKind::ThreadJoin:
    case EventKind::ThreadDetach:
    case EventKind::ThreadCancel:
    case EventKind::ThreadSignal: return " " + thread_name(trace, event.value);
    case EventKind::ThreadTryjoin:
      return fmt::format(" {}{}", thread_name(trace, event.value),
                         event.aux == 0 ? "" : " which still runs");
    case EventKind::Load:
    case EventKind::Store:
    case EventKind::AtomicLoad:
    case EventKind::AtomicStore:
    case EventKind::Flush:
      return fmt::format(" = {} {}", value_text(event.value, event.size), bytes_text(event.size));
    case EventKind::AtomicRmw:
    case EventKind::AtomicCas:
      return fmt::format(" = {} -> {} {}", value_text(event.value, event.size),
                         value_text(event.aux, event.size), bytes_text(event.size));
    case EventKind::RangeWrite: return " " + bytes_text(event.size);
    case EventKind::RangeRead:
      return fmt::format(" hash {:016x} {}", event.value, bytes_text(event.size));
    case EventKind::Fence: return fmt::format(" {}", memory_order_name(event.value));
    case EventKind::MutexLock:
    case EventKind::MutexTrylock:
    case EventKind::MutexUnlock:
    case EventKind::MutexDestroy:
    case EventKind::MutexConsistent:
    case EventKind::CondWait:
    case EventKind::CondDestroy:
    case EventKind::FutexWait:
    case EventKind::SemWait:
    case EventKind::SemTrywait:
    case EventKind::SemPost:
    case EventKind::SemDestroy:
    case EventKind::RwlockRead:
    case EventKind::RwlockTryRead:
    case EventKind::RwlockWrite:
    case EventKind::RwlockTryWrite:
    case EventKind::RwlockUnlock:
    case EventKind::RwlockDestroy:
    case EventKind::SpinTrylock:
    case EventKind::BarrierDestroy:
      return event.value == 0 ? "" : fmt::format(" failed with {}", event.value);
    case EventKind::CondSignal:
      return event.aux == 0 ? " woke nobody" : " woke " + thread_name(trace, event.aux - 1);
    case EventKind::CondWake: return wake_reason(event.value);
    case EventKind::FutexResume: return event.value == 0 ? " woken" : " timed out";
    case EventKind::BreakpointPause: return event.value == 1 ? " met" : " in vain";
    case EventKind::OnceBegin: return event.value == 0 ? " already done" : " runs it";
    case EventKind::OnceEnd: return event.value == 0 ? "" : " left early";
    case EventKind::FutexRequeue: return fmt::format(" woke {}, moved {}", event.value, event.aux);
    case EventKind::FutexWake:
    case EventKind::CondBroadcast: return fmt::format(" woke {}", event.value);
    case EventKind::Sleep: return fmt::format(" {} ns", event.value);
    // A kind that carries nothing more needs no row here.
    default: return "";
  }
}

}  // namespace

std::string_view key_of(const Trace& trace, SiteIndex site) {
  return site < trace.sites.size() ? std::string_view(trace.sites[site].key) : std::string_view();
}

std::string thread_name(const Trace& trace, std::uint64_t thread) {
  if (thread < trace.threads.size()) return trace.threads[thread].path;
  return thread == kNone ? "no thread" : fmt::format("thread number {}", thread);
}

const Frame* source_frame(const Trace& trace, SiteIndex site) {
  return site < trace.sites.size() ? source_frame(trace.sites[site]) : nullptr;
}

std::string_view base_name(std::string_view file) {
  std::size_t slash = file.rfind('/');
  return slash == std::string_view::npos ? file : file.substr(slash + 1);
}

std::string place_of(const Trace& trace, SiteIndex site) {
  if (const Frame* frame = source_frame(trace, site)) {
    std::string place = fmt::format("{}:{}", base_name(frame->file), frame->line);
    if (frame->column != 0) place += fmt::format(":{}", frame->column);
    return place;
  }
  return site < trace.sites.size() ? trace.sites[site].key : "unknown place";
}

std::string place_and_function(const Trace& trace, SiteIndex site) {
  std::string place = place_of(trace, site);
  const Frame* frame = source_frame(trace, site);
  return frame != nullptr && !frame->function.empty()
             ? fmt::format("{} ({})", place, frame->function)
             : place;
}

std::string memory_name(const Trace& trace, ObjectIndex object, std::uint64_t offset) {
  if (object >= trace.objects.size()) return "";
  const std::string& name = trace.objects[object].name;
  return offset == 0 ? name : fmt::format("{}+{}", name, offset);
}

std::string describe(const Trace& trace, const Event& event) {
  std::string memory = memory_name(trace, event.object, event.offset);
  return fmt::format("{}{}{}{}", abi::name_of(event.kind), memory.empty() ? "" : " ", memory,
                     details(trace, event));
}

std::string describe(const Step& step) {
  return step.kind == StepKind::Branch ? fmt::format("{} {}", abi::name_of(step.kind), step.value)
                                       : std::string(abi::name_of(step.kind));
}

std::string describe_with_place(const Trace& trace, const Event& event) {
  std::string text = fmt::format("{} {}", thread_name(trace, event.thread), describe(trace, event));
  if (event.site == kNone) return text;
  return fmt::format("{} at {}", text, place_and_function(trace, event.site));
}

std::string describe(const Trace& trace, const Wait& wait) {
  if (wait.kind == EventKind::ThreadJoin)
    return fmt::format("{} waits to thread_join {} at {}", thread_name(trace, wait.thread),
                       thread_name(trace, wait.holder), place_and_function(trace, wait.site));
  std::string memory = memory_name(trace, wait.object, wait.offset);
  std::string text = fmt::format("{} waits to {}{}{} at {}", thread_name(trace, wait.thread),
                                 abi::name_of(wait.kind), memory.empty() ? "" : " ", memory,
                                 place_and_function(trace, wait.site));
  if (wait.holder == kNone) return text;
  text += fmt::format(", held by {}", thread_name(trace, wait.holder));
  if (wait.holder_site != kNone)
    text += fmt::format(" since {}", place_and_function(trace, wait.holder_site));
  return text;
}

std::string_view memory_order_name(std::uint64_t order) {
  switch (static_cast<abi::MemoryOrder>(order)) {
    case abi::MemoryOrder::Relaxed: return "relaxed";
    case abi::MemoryOrder::Consume: return "consume";
    case abi::MemoryOrder::Acquire: return "acquire";
    case abi::MemoryOrder::Release: return "release";
    case abi::MemoryOrder::AcquireRelease: return "acq_rel";
    case abi::MemoryOrder::SequentiallyConsistent: return "seq_cst";
  }
  return "unknown order";
}

bool is_system_header(std::string_view file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/");
}

const Frame* source_frame(const Site& site) {
  for (const Frame& frame : site.frames) {
    if (!is_system_header(frame.file)) return &frame;
  }
  return site.frames.empty() ? nullptr : &site.frames.front();
}

}  // namespace heddle::trace
