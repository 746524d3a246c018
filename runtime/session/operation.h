// SPDX-License-Identifier: Apache-2.0
//
// What a thread is about to do, as the session sees it: something that happens at a site to an
// address, possibly not before something else has happened.
#pragma once

#include <cstdint>

#include "abi/channel.h"

namespace heddle::runtime {

struct Operation;

/// Whether another process can end a wait.
enum class Reach {
  Process,   // it cannot
  Noticed,   // what it does is seen in memory
  Unseen,    // it can, and nobody here would know
  Recorded,  // it could, when the run was recorded: nothing more will come
};

/// How an operation can be held up. Each primitive has one of these (runtime/sync/).
struct Blocking {
  bool (*ready)(const Operation& operation);
  /// Who would have to act before `operation` can go on, kNoThread if nobody in particular, and the
  /// site at which that thread took what is waited for.
  abi::ThreadIndex (*holder)(const Operation& operation, abi::SiteId& taken_at);
  /// nullptr: Reach::Process.
  Reach (*reach)(const Operation& operation) = nullptr;
};

struct Operation {
  abi::EventKind kind = abi::EventKind::None;
  abi::SiteId site = abi::kUnknownSite;
  std::uint64_t address = 0;  // what it acts on; the same for all that may hold each other up
  abi::ThreadIndex thread = 0;
  const Blocking* blocking = nullptr;  // nullptr: never held up
  std::uint64_t detail = 0;            // the primitive's own
  // An operation with a time limit is never held up. Where time is real it is waited for this,
  // until then (as Session::clock() counts).
  const Blocking* awaited = nullptr;
  std::int64_t deadline = 0;

  /// The same as an assignment, part by part: a copy of sixteen bytes at a time would have to wait
  /// until the parts, which have just been set, are in the cache.
  void set(const Operation& other) {
    kind = other.kind;
    site = other.site;
    address = other.address;
    thread = other.thread;
    blocking = other.blocking;
    detail = other.detail;
    awaited = other.awaited;
    deadline = other.deadline;
  }
};

/// Marks operations of kind Descriptor that a time limit ends (Operation::detail).
inline constexpr std::uint64_t kTimed = 1;

/// The operation does no more than let time pass, unless what it waits for has come meanwhile.
inline bool passes_time(const Operation& operation) {
  if (operation.blocking != nullptr) return false;
  switch (operation.kind) {
    case abi::EventKind::Sleep:
    case abi::EventKind::CondWake:
    case abi::EventKind::FutexResume:
    case abi::EventKind::SemWait: return true;
    case abi::EventKind::Descriptor: return operation.detail == kTimed;
    default: return false;
  }
}

/// `address` is of memory; where threads are concerned it is a handle.
inline bool names_memory(const Operation& operation) {
  return abi::EventKind::ThreadDetach < operation.kind && operation.address != 0;
}

inline Reach reach_of(const Operation& operation) {
  const bool known = operation.blocking != nullptr && operation.blocking->reach != nullptr;
  return known ? operation.blocking->reach(operation) : Reach::Process;
}

inline Operation operation_on(const void* address, abi::EventKind kind, abi::SiteId site,
                              const Blocking* blocking = nullptr) {
  Operation operation;
  operation.kind = kind;
  operation.site = site;
  operation.address = reinterpret_cast<std::uint64_t>(address);
  operation.blocking = blocking;
  return operation;
}

/// `operation` need not wait for `awaited` longer than until `deadline`.
inline void limit(Operation& operation, const Blocking& awaited, std::int64_t deadline) {
  operation.awaited = &awaited;
  operation.deadline = deadline;
}

}  // namespace heddle::runtime
