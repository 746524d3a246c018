// SPDX-License-Identifier: Apache-2.0
#include "analysis/conflicts/detect.h"

#include <algorithm>
#include <optional>
#include <set>

#include "abi/locks.h"
#include "analysis/conflicts/clocks.h"
#include "analysis/localise/accesses.h"
#include "analysis/localise/suspects.h"
#include "trace/words.h"

namespace heddle::analysis {
namespace {

using trace::Event;
using trace::EventKind;
using trace::ThreadId;

/// What a conflict is about, as far as one of its two events says.
enum class Deed : std::uint8_t {
  Other,
  Plain,
  Atomic,
  End,  // of memory, or of a synchronisation object
  Lock,
  SharedLock,
  Wait,
  Notify,
  SemaphoreUse
};

Deed deed_of(const Event& event) {
  switch (abi::locking_of(event.kind)) {
    case abi::Locking::Takes: return Deed::Lock;
    case abi::Locking::Shares: return Deed::SharedLock;
    case abi::Locking::Waits: return Deed::Wait;
    case abi::Locking::Releases:
    case abi::Locking::None: break;
  }
  switch (event.kind) {
    case EventKind::Load:
    case EventKind::Store:
    case EventKind::RangeRead:
    case EventKind::RangeWrite: return Deed::Plain;
    case EventKind::AtomicLoad:
    case EventKind::AtomicStore:
    case EventKind::AtomicRmw:
    case EventKind::AtomicCas: return Deed::Atomic;
    case EventKind::HeapFree:
    case EventKind::MutexDestroy:
    case EventKind::CondDestroy:
    case EventKind::SemDestroy:
    case EventKind::RwlockDestroy:
    case EventKind::BarrierDestroy: return Deed::End;
    case EventKind::CondSignal:
    case EventKind::CondBroadcast: return Deed::Notify;
    case EventKind::SemWait:
    case EventKind::SemTrywait:
    case EventKind::SemPost: return Deed::SemaphoreUse;
    default: return Deed::Other;
  }
}

const char* role_text(const Event& event) {
  switch (deed_of(event)) {
    case Deed::Lock:
    case Deed::SharedLock: return "lock";
    case Deed::Wait: return "wait";
    case Deed::Notify: return "signal";
    case Deed::SemaphoreUse: return event.kind == EventKind::SemPost ? "signal" : "wait";
    case Deed::End: return event.kind == EventKind::HeapFree ? "free" : "destroy";
    default: return to_text(role_of(event));
  }
}

/// A lock a thread holds; shared: for reading only.
struct HeldLock {
  trace::ObjectIndex object = trace::kNone;
  std::uint64_t offset = 0;
  bool is_shared = false;
  trace::SiteIndex site = trace::kNone;  // where it was taken
  bool operator==(const HeldLock&) const = default;
};
using LockSet = std::vector<HeldLock>;  // in the order in which they were taken

/// The outermost lock that excludes one from the other, as each of them holds it.
std::optional<std::pair<HeldLock, HeldLock>> common_lock(const LockSet& one, const LockSet& other) {
  for (const HeldLock& lock : one) {
    for (const HeldLock& same : other) {
      if (lock.object == same.object && lock.offset == same.offset &&
          !(lock.is_shared && same.is_shared)) {
        return std::pair(lock, same);
      }
    }
  }
  return std::nullopt;
}

struct Access {
  std::size_t event = 0;
  ThreadId thread = 0;
  trace::SiteIndex site = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Deed deed = Deed::Other;
  bool writes = false;
  bool is_woken = false;    // takes back the mutex of a wait
  std::uint32_t visit = 1;  // of its thread, at this site in this way
  LockSet locks;

  bool is_like(const Access& other) const {
    return thread == other.thread && site == other.site && deed == other.deed &&
           is_woken == other.is_woken && locks == other.locks;
  }
};

/// What it would be if no lock kept them apart.
std::optional<ConflictKind> conflict_of(const Access& x, const Access& y) {
  const auto one_is = [&](Deed a, Deed b) {
    return (x.deed == a && y.deed == b) || (x.deed == b && y.deed == a);
  };
  if (x.deed == Deed::End || y.deed == Deed::End) return ConflictKind::Lifetime;
  if (one_is(Deed::Lock, Deed::Lock) || one_is(Deed::Lock, Deed::SharedLock)) {
    return ConflictKind::Lock;
  }
  if (one_is(Deed::Wait, Deed::Notify)) return ConflictKind::Condition;
  if (one_is(Deed::SemaphoreUse, Deed::SemaphoreUse)) return ConflictKind::Semaphore;
  const auto is_memory = [](Deed deed) { return deed == Deed::Plain || deed == Deed::Atomic; };
  if (!is_memory(x.deed) || !is_memory(y.deed) || !(x.writes || y.writes)) return std::nullopt;
  return one_is(Deed::Atomic, Deed::Atomic) ? ConflictKind::Atomic : ConflictKind::Race;
}

/// The accesses of one run so far, by the memory they touch.
class History {
 public:
  template <typename Visit>
  void each_overlapping(trace::ObjectIndex object, const Access& access, Visit visit) const {
    const auto look = [&](const std::vector<Access>& accesses) {
      for (const Access& other : accesses) {
        if (other.begin < access.end && access.begin < other.end) visit(other);
      }
    };
    const auto last = narrow_.upper_bound({object, (access.end - 1) / kGranule});
    for (auto it = narrow_.lower_bound({object, access.begin / kGranule}); it != last; ++it) {
      look(it->second);
    }
    if (const auto wide = wide_.find(object); wide != wide_.end()) look(wide->second);
  }

  void add(trace::ObjectIndex object, const Access& access) {
    const std::uint64_t first = access.begin / kGranule;
    const std::uint64_t last = (access.end - 1) / kGranule;
    if (last - first > kMostGranules) {
      keep(wide_[object], access);
    } else {
      for (std::uint64_t granule = first; granule <= last; ++granule) {
        keep(narrow_[{object, granule}], access);
      }
    }
  }

 private:
  static constexpr std::uint64_t kGranule = 8;
  static constexpr std::uint64_t kMostGranules = 8;
  static constexpr std::size_t kMostKept = 64;

  /// Of accesses that differ only in when they were, the first and the latest tell enough: what
  /// either is ordered with, those in between are.
  static void keep(std::vector<Access>& accesses, const Access& access) {
    Access* latest = nullptr;
    std::size_t alike = 0;
    for (Access& other : accesses) {
      if (!other.is_like(access) || other.begin != access.begin) continue;
      ++alike;
      latest = &other;
    }
    if (alike >= 2) {
      *latest = access;
    } else if (accesses.size() < kMostKept) {
      accesses.push_back(access);
    }
  }

  std::map<std::pair<trace::ObjectIndex, std::uint64_t>, std::vector<Access>> narrow_;
  std::map<trace::ObjectIndex, std::vector<Access>> wide_;
};

/// Locks each thread holds, and whether it is on its way out of a wait.
class HeldLocks {
 public:
  explicit HeldLocks(std::size_t threads) : held_(threads), returning_(threads) {}

  const LockSet& of(ThreadId thread) const { return held_[thread]; }
  bool returns_from_wait(const Event& event) const {
    return event.kind == EventKind::MutexLock && returning_[event.thread];
  }
  void advance(const Event& event) {
    LockSet& held = held_[event.thread];
    const abi::Locking does = abi::locking_of(event.kind);
    switch (does) {
      case abi::Locking::Takes:
      case abi::Locking::Shares:
        returning_[event.thread] = false;
        if (event.value == 0) {
          held.push_back({event.object, event.offset, does == abi::Locking::Shares, event.site});
        }
        break;
      case abi::Locking::Waits:
        returning_[event.thread] = true;
        if (!held.empty()) held.pop_back();
        break;
      case abi::Locking::Releases: {
        const auto newest = std::find_if(held.rbegin(), held.rend(), [&](const HeldLock& lock) {
          return lock.object == event.object && lock.offset == event.offset;
        });
        if (newest != held.rend()) held.erase(std::next(newest).base());
        break;
      }
      case abi::Locking::None: break;
    }
  }

 private:
  std::vector<LockSet> held_;
  std::vector<bool> returning_;
};

/// Breakpoints can be put there: not at starts and ends of threads, nor into system headers.
bool has_place(const trace::Trace& trace, trace::SiteIndex site) {
  if (site == trace::kNone || trace.sites[site].key.starts_with('<')) return false;
  const trace::Frame* const frame = trace::source_frame(trace, site);
  return frame != nullptr && !trace::is_system_header(frame->file);
}

std::optional<Point> point_before(const Accesses& accesses, std::size_t event) {
  const trace::Trace& trace = accesses.trace();
  for (std::size_t i = event; i-- > 0;) {
    if (trace.events[i].thread != trace.events[event].thread) continue;
    if (trace.events[i].site == trace::kNone) return std::nullopt;
    return accesses.point(i);
  }
  return std::nullopt;
}

/// The thread of `second` comes to it, then `first` is done, then `second`.
std::vector<Order> meeting(const Accesses& accesses, std::size_t first, std::size_t second) {
  std::vector<Order> orders;
  if (const auto arrived = point_before(accesses, second)) {
    orders.push_back({*arrived, accesses.point(first)});
  }
  orders.push_back({accesses.point(first), accesses.point(second)});
  return orders;
}

FoundAccess found_access(const Accesses& accesses, const Access& access_at) {
  const trace::Trace& trace = accesses.trace();
  const std::size_t event = access_at.event;
  FoundAccess access;
  access.point = accesses.point(event);
  access.point.occurrence = access_at.visit;
  access.frame = *trace::source_frame(trace, trace.events[event].site);
  access.thread = trace.threads[accesses.owner(event)].path;
  access.role = access_at.is_woken ? kWokenRole : role_text(trace.events[event]);
  access.event = event;
  return access;
}

FoundPair pair_of(const Accesses& accesses, const Access& first, const Access& second) {
  const trace::Trace& trace = accesses.trace();
  FoundPair pair;
  pair.first = found_access(accesses, first);
  pair.second = found_access(accesses, second);
  // The smaller access names the memory: a free is of the whole of it.
  const bool use_first = first.end - first.begin < second.end - second.begin;
  const Event& named = trace.events[use_first ? first.event : second.event];
  set_memory(pair, trace, named.object, named.offset);
  return pair;
}

/// Woken threads are at the place of their wait, and yet elsewhere.
std::string name_of(const trace::Trace& trace, const Access& access) {
  return trace.sites[access.site].key + (access.is_woken ? " woken" : "");
}

std::tuple<ConflictKind, std::string, std::string> key_of(const trace::Trace& trace,
                                                          const Access& one, const Access& two,
                                                          ConflictKind kind) {
  const auto [lesser, greater] = std::minmax({name_of(trace, one), name_of(trace, two)});
  return {kind, lesser, greater};
}

Conflict conflict_between(const Accesses& accesses, const Access& first, const Access& second,
                          ConflictKind kind, std::size_t run) {
  Conflict conflict;
  conflict.kind = kind;
  conflict.witness = run;
  conflict.pair = pair_of(accesses, first, second);
  conflict.meeting[0] = meeting(accesses, first.event, second.event);
  conflict.meeting[1] = meeting(accesses, second.event, first.event);
  return conflict;
}

}  // namespace

void ConflictDetector::add(const trace::Trace& trace, std::size_t run) {
  const Accesses accesses(trace);
  Clocks unlocked(trace, LockEdges::Ignored);
  Clocks all(trace, LockEdges::Counted);
  HeldLocks held(trace.threads.size());
  History history;
  std::set<const Conflict*> here;  // seen in this run
  std::map<std::tuple<ThreadId, trace::SiteIndex, EventKind, bool>, std::uint32_t> visits;
  const auto note_protected = [&](const Accesses& read, const Access& one, const Access& two,
                                  const std::pair<HeldLock, HeldLock>& lock) {
    if (lock.first.site == trace::kNone || lock.second.site == trace::kNone) return;
    const auto [lesser, greater] =
        std::minmax(trace.sites[lock.first.site].key, trace.sites[lock.second.site].key);
    std::vector<FoundPair>& pairs = protected_[{lesser, greater}];
    constexpr std::size_t kMost = 4;  // as much as anybody wants to read
    if (pairs.size() >= kMost) return;
    FoundPair pair = pair_of(read, one, two);
    const bool is_known = std::ranges::any_of(pairs, [&](const FoundPair& known) {
      return known.variable == pair.variable && known.first.frame.line == pair.first.frame.line &&
             known.second.frame.line == pair.second.frame.line;
    });
    if (!is_known) pairs.push_back(std::move(pair));
  };
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    const Deed deed = deed_of(event);
    const bool counts =
        deed != Deed::Other && event.object != trace::kNone && has_place(trace, event.site);
    if (counts) {
      Access access;
      access.event = i;
      access.thread = event.thread;
      access.site = event.site;
      access.begin = event.offset;
      access.end = event.offset + accesses.bytes(i);
      access.deed = deed;
      access.writes = writes(role_of(event));
      access.is_woken = held.returns_from_wait(event);
      access.visit = ++visits[{event.thread, event.site, event.kind, access.is_woken}];
      access.locks = held.of(event.thread);
      history.each_overlapping(event.object, access, [&](const Access& other) {
        if (other.thread == access.thread ||
            unlocked.knows(access.thread, other.thread, other.event)) {
          return;
        }
        const auto kind = conflict_of(other, access);
        if (!kind) return;
        if (const auto lock = common_lock(other.locks, access.locks)) {
          note_protected(accesses, other, access, *lock);
          return;
        }
        const auto [entry, is_new] = found_.try_emplace(key_of(trace, other, access, *kind));
        Conflict& conflict = entry->second;
        if (is_new) conflict = conflict_between(accesses, other, access, *kind, run);
        if (here.insert(&conflict).second) ++conflict.runs;
        const bool needs_proof = *kind == ConflictKind::Race || *kind == ConflictKind::Lifetime;
        conflict.observed = conflict.observed || !needs_proof ||
                            !all.knows(access.thread, other.thread, other.event);
      });
      history.add(event.object, access);
    }
    held.advance(event);
    unlocked.advance(i);
    all.advance(i);
  }
}

std::vector<Conflict> ConflictDetector::conflicts() const {
  std::vector<Conflict> result;
  for (const auto& [key, conflict] : found_) {
    result.push_back(conflict);
    if (conflict.kind != ConflictKind::Lock) continue;
    const auto [lesser, greater] =
        std::minmax(conflict.pair.first.point.site, conflict.pair.second.point.site);
    if (const auto known = protected_.find({lesser, greater}); known != protected_.end()) {
      result.back().about = known->second;
    }
  }
  std::ranges::sort(result, {}, [](const Conflict& conflict) {
    const FoundPair& pair = conflict.pair;
    return std::tuple(standing(conflict), pair.first.frame.file, pair.first.frame.line,
                      pair.second.frame.line, pair.first.point.site, pair.second.point.site);
  });
  return result;
}

}  // namespace heddle::analysis
