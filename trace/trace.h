// SPDX-License-Identifier: Apache-2.0
//
// What one execution did, with every name resolved: the only form in which analyses, reports and
// the store see a run. Self-contained (sites and objects travel along), so that a trace can be read
// where the program is not. File format: FORMAT.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "abi/abi.h"
#include "abi/channel.h"

namespace heddle::trace {

using abi::EventKind;
using abi::FailureKind;
using abi::ObjectKind;
using abi::StepKind;
using ThreadId = std::uint32_t;     // index in Trace::threads
using SiteIndex = std::uint32_t;    // index in Trace::sites
using ObjectIndex = std::uint32_t;  // index in Trace::objects
inline constexpr std::uint32_t kNone = 0xffffffff;

struct Frame {
  std::string function;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool operator==(const Frame&) const = default;
};

/// A place in the source. `key` is its name across builds, unique in a program; `frames` runs from
/// the innermost inlined function to the physical one and is empty for places outside instrumented
/// code (thread start and exit, unknown).
struct Site {
  std::string key;
  std::string callee;  // for calls
  std::vector<Frame> frames;
  bool operator==(const Site&) const = default;
};

struct Thread {
  std::string path;         // "t0", "t0.2.1"
  ThreadId parent = kNone;  // always before its children in the table
  bool operator==(const Thread&) const = default;
};

/// A piece of memory by name, never by address. `name` is what a person reads: a global's symbol,
/// "heap t0.1 #3 (make_node+4.call.1)", "stack t0.2"; equal names in two traces are the same
/// object.
struct Object {
  ObjectKind kind = ObjectKind::Unknown;
  std::string name;
  std::uint64_t size = 0;
  bool operator==(const Object&) const = default;
};

struct Event {
  EventKind kind = EventKind::None;
  ThreadId thread = 0;
  SiteIndex site = kNone;
  ObjectIndex object = kNone;
  std::uint32_t size = 0;
  std::uint64_t offset = 0;
  std::uint64_t value = 0;
  std::uint64_t aux = 0;
  bool operator==(const Event&) const = default;
};

/// Something only its thread could notice (abi/steps.def), done before the event with index
/// `event` (or after all of them). Recorded by variants that ask for steps.
struct Step {
  StepKind kind = StepKind::None;
  ThreadId thread = 0;
  SiteIndex site = kNone;
  std::uint64_t event = 0;
  std::uint64_t value = 0;
  bool operator==(const Step&) const = default;
};

/// Why a thread could not go on when everything stopped.
struct Wait {
  EventKind kind = EventKind::None;
  ThreadId thread = 0;
  ThreadId holder = kNone;
  SiteIndex site = kNone;
  SiteIndex holder_site = kNone;
  ObjectIndex object = kNone;
  std::uint64_t offset = 0;
  bool operator==(const Wait&) const = default;
};

/// How the run ended. Two failures are the same bug when signature() is equal.
struct Outcome {
  FailureKind kind = FailureKind::None;
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  ThreadId thread = kNone;
  SiteIndex site = kNone;
  SiteIndex related_site = kNone;  // where freed memory was freed
  std::string message;             // the assertion's text, the exception's what()
  std::string file;                // where it failed, also when no site is known
  std::string function;
  std::uint32_t line = 0;
  std::vector<Wait> waits;
  bool failed() const { return kind != FailureKind::None; }
  bool operator==(const Outcome&) const = default;
};

/// What a thread was doing when the run failed, on source lines. Not part of what makes two runs
/// the same: where a run hangs depends on when it is looked at.
struct Stack {
  ThreadId thread = 0;
  std::vector<Frame> frames;  // innermost first, inlined functions like others; line 0: unknown
  bool is_whole = true;       // false: outer callers were not found
  bool operator==(const Stack&) const = default;
};

struct Header {
  std::string program;                         // path as the user gave it
  std::string build_id;                        // of the user's program, hexadecimal
  std::map<std::string, std::string> options;  // effective values of abi/options.def
  bool operator==(const Header&) const = default;
};

struct Trace {
  Header header;
  std::vector<Thread> threads;
  std::vector<Site> sites;
  std::vector<Object> objects;
  std::vector<Event> events;
  std::vector<Step> steps;       // in the order in which they happened
  std::uint64_t steps_lost = 0;  // happened after those, and were too many to be recorded
  std::vector<Stack> stacks;     // of a failed run: those of the threads that had not ended
  Outcome outcome;
  /// False when the writer did not come to its end: events up to the crash are all there.
  bool complete = true;
  bool operator==(const Trace&) const = default;
};

/// Stable text of what makes two failures the same: kind and place, or the deadlock's wait cycle.
std::string signature(const Trace& trace);

}  // namespace heddle::trace
