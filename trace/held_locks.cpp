// SPDX-License-Identifier: Apache-2.0
#include "trace/held_locks.h"

#include <algorithm>

#include "abi/locks.h"

namespace heddle::trace {
namespace {

bool is_mutex(EventKind taken_by) {
  return taken_by == EventKind::MutexLock || taken_by == EventKind::MutexTrylock;
}

class Replay {
 public:
  explicit Replay(const Trace& trace) : trace_(trace) {}

  std::vector<HeldLock> run() {
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const Event& event = trace_.events[i];
      switch (abi::locking_of(event.kind)) {
        case abi::Locking::None: break;
        case abi::Locking::Takes:
        case abi::Locking::Shares:
          if (event.value == 0) take(event);
          break;
        case abi::Locking::Releases:
          if (event.value == 0) release(event.thread, event.object, event.offset);
          break;
        case abi::Locking::Waits: let_go(i); break;
      }
    }
    std::vector<HeldLock> locks;
    for (const Held& held : held_) locks.push_back(held.lock);
    return locks;
  }

 private:
  struct Held {
    HeldLock lock;
    unsigned depth;
  };
  using Position = std::vector<Held>::iterator;

  Position find(ThreadId thread, ObjectIndex object, std::uint64_t offset) {
    return std::ranges::find_if(held_, [&](const Held& held) {
      return held.lock.thread == thread && held.lock.object == object && held.lock.offset == offset;
    });
  }

  void take(const Event& event) {
    const Position known = find(event.thread, event.object, event.offset);
    if (known != held_.end()) {
      ++known->depth;
    } else {
      held_.push_back({{event.thread, event.kind, event.site, event.object, event.offset}, 1});
    }
  }

  void release(ThreadId thread, ObjectIndex object, std::uint64_t offset) {
    const Position known = find(thread, object, offset);
    if (known != held_.end() && --known->depth == 0) held_.erase(known);
  }

  /// The event of a wait names the condition variable only. Its mutex is the one that the thread
  /// locks, or waits to lock, though it has it; if it does neither any more, the one it took last.
  void let_go(std::size_t waiting) {
    const ThreadId thread = trace_.events[waiting].thread;
    Position mutex = held_.end();
    for (Position at = held_.begin(); at != held_.end(); ++at) {
      if (at->lock.thread == thread && is_mutex(at->lock.taken_by)) mutex = at;
    }
    if (mutex == held_.end()) return;
    for (std::size_t i = waiting + 1; i < trace_.events.size(); ++i) {
      const Event& later = trace_.events[i];
      if (later.thread != thread || later.kind != EventKind::MutexLock) continue;
      const Position again = find(thread, later.object, later.offset);
      if (again != held_.end()) mutex = again;
      held_.erase(mutex);
      return;
    }
    for (const Wait& wait : trace_.outcome.waits) {
      if (wait.thread != thread || wait.kind != EventKind::MutexLock) continue;
      const Position wanted = find(thread, wait.object, wait.offset);
      if (wanted != held_.end()) mutex = wanted;
    }
    held_.erase(mutex);
  }

  const Trace& trace_;
  std::vector<Held> held_;
};

}  // namespace

std::vector<HeldLock> held_locks(const Trace& trace) {
  return Replay(trace).run();
}

}  // namespace heddle::trace
