// SPDX-License-Identifier: Apache-2.0
#include "driver/search/races.h"

#include <algorithm>

#include "abi/names.h"
#include "analysis/conflicts/clocks.h"
#include "driver/search/footprint.h"

namespace heddle::driver {
namespace {

/// Also what is never plain: an atomic access, and a free, race with accesses that are.
bool uses_memory(abi::EventKind kind) {
  const abi::Access access = abi::access_of(kind);
  return access == abi::Access::Read || access == abi::Access::Write ||
         access == abi::Access::Update;
}

/// What orders threads, without anybody's name: all that happens before anything follows from it.
trace::Trace synchronisation(const Channel& channel) {
  trace::Trace trace;
  trace.threads.resize(channel.threads().size());
  for (const abi::EventRecord& event : channel.events()) {
    if (event.thread >= trace.threads.size()) break;
    if (is_plain(event.kind)) continue;
    trace.events.push_back({event.kind, event.thread, event.site, event.object, event.size,
                            event.offset, event.value, event.aux});
  }
  return trace;
}

/// The last access of one thread at one site to something, and all it has reached of it.
struct Use {
  abi::ThreadIndex thread = 0;
  bool writes = false;
  abi::SiteId site = 0;
  std::size_t time = 0;  // how much synchronisation there had been
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

bool overlap(const Use& a, const Use& b) {
  return a.begin < b.end && b.begin < a.end;
}

/// Who used each unit of memory. Executions of a million accesses are learned from while the search
/// waits: one table, and one list for all units.
class Units {
 public:
  struct User {
    abi::SiteId site = 0;
    abi::ThreadIndex thread = 0;
    bool writes = false;
    std::uint32_t next = 0;  // of the same unit, index + 1
    std::size_t time = 0;
  };

  Units() : table_(1 << 12) {}

  /// Calls `visit` with every other site's or thread's last use of the unit, then notes this one.
  template <typename Visit>
  void add(std::uint64_t unit, const Use& use, Visit visit) {
    if (2 * used_ >= table_.size()) grow();
    Slot& slot = table_[place_of(table_, unit)];
    if (slot.first == 0) {
      slot.unit = unit;
      ++used_;
    }
    std::uint32_t own = 0;
    for (std::uint32_t at = slot.first; at != 0; at = users_[at - 1].next) {
      const User& user = users_[at - 1];
      if (user.site == use.site && user.thread == use.thread) {
        own = at;
      } else {
        visit(user);
      }
    }
    if (own == 0) {
      users_.push_back({use.site, use.thread, use.writes, slot.first, use.time});
      slot.first = static_cast<std::uint32_t>(users_.size());
    } else {
      users_[own - 1].time = use.time;
      users_[own - 1].writes |= use.writes;
    }
  }

 private:
  struct Slot {
    std::uint64_t unit = 0;
    std::uint32_t first = 0;  // index + 1; 0: the slot is free
  };
  using Table = std::vector<Slot>;  // open addressing, a power of two, at most half full

  static std::size_t place_of(const Table& table, std::uint64_t unit) {
    std::size_t i = unit & (table.size() - 1);
    while (table[i].first != 0 && table[i].unit != unit) i = (i + 1) & (table.size() - 1);
    return i;
  }
  void grow() {
    Table larger(2 * table_.size());
    for (const Slot& slot : table_) {
      if (slot.first != 0) larger[place_of(larger, slot.unit)] = slot;
    }
    table_.swap(larger);
  }

  Table table_;
  std::size_t used_ = 0;
  std::vector<User> users_;
};

}  // namespace

class Races::Execution {
 public:
  Execution(const Channel& channel, std::unordered_map<abi::SiteId, Plain>& plain)
      : channel_(channel),
        footprints_(channel),
        trace_(synchronisation(channel)),
        clocks_(trace_, analysis::LockEdges::Counted),
        plain_(plain),
        objects_(channel.objects().size() + 1) {}

  bool learn() {
    for (const abi::EventRecord& event : channel_.events()) {
      if (event.thread >= trace_.threads.size()) break;
      if (is_plain(event.kind)) {
        count(event.site);
      } else {
        clocks_.advance(time_++);
      }
      if (uses_memory(event.kind)) access(event);
    }
    return brought_anything_;
  }

 private:
  using Reached = std::unordered_map<std::uint64_t, Use>;  // by thread and site
  struct Object {
    Reached all;
    Reached large;        // of these, what is not in units_
    Use* last = nullptr;  // that was added to `all`
  };

  void count(abi::SiteId site) {
    const auto [plain, is_new] = plain_.try_emplace(site);
    brought_anything_ |= is_new;
    Plain& counted = plain->second;
    counted.most_visits = std::max(counted.most_visits, ++counted.visits);
  }

  void access(const abi::EventRecord& event) {
    const Footprint footprint = footprints_.of(event);
    if (footprint.object == 0) return;
    const Use use{event.thread,    footprint.memory == Touch::Write,
                  event.site,      time_,
                  footprint.begin, footprint.end};
    Object& object = objects_[event.object];
    if (is_large(footprint)) {
      for (const auto& [key, other] : object.all) compare(use, other);
      add(object.large, use);
    } else {
      for (const auto& [key, other] : object.large) compare(use, other);
      for_each_unit(footprint, [&](std::uint64_t unit) {
        units_.add(unit, use, [&](const Units::User& user) {
          if (user.thread != use.thread && (user.writes || use.writes)) {
            judge(use, user.thread, user.site, user.time);
          }
        });
      });
    }
    // Mostly the same access as before, in a loop.
    if (object.last != nullptr && object.last->site == use.site &&
        object.last->thread == use.thread) {
      extend(*object.last, use);
    } else {
      object.last = &add(object.all, use);
    }
  }

  static void extend(Use& known, const Use& use) {
    known.time = use.time;
    known.writes |= use.writes;
    known.begin = std::min(known.begin, use.begin);
    known.end = std::max(known.end, use.end);
  }

  static Use& add(Reached& reached, const Use& use) {
    const std::uint64_t key = std::uint64_t{use.thread} << 32 | use.site;
    Use& known = reached.try_emplace(key, use).first->second;
    extend(known, use);
    return known;
  }

  void compare(const Use& use, const Use& other) {
    if (other.thread != use.thread && (other.writes || use.writes) && overlap(use, other)) {
      judge(use, other.thread, other.site, other.time);
    }
  }

  /// What a thread has done is known to whoever knows of some synchronisation it did later.
  void judge(const Use& use, abi::ThreadIndex thread, abi::SiteId other, std::size_t time) {
    if (clocks_.knows(use.thread, thread, time)) return;
    for (const abi::SiteId site : {use.site, other}) {
      const auto plain = plain_.find(site);
      if (plain == plain_.end() || plain->second.raced) continue;
      plain->second.raced = true;
      brought_anything_ = true;
    }
  }

  const Channel& channel_;
  const Footprints footprints_;
  const trace::Trace trace_;
  analysis::Clocks clocks_;
  std::unordered_map<abi::SiteId, Plain>& plain_;
  std::size_t time_ = 0;  // events of trace_ that are over
  Units units_;
  std::vector<Object> objects_;  // by their index + 1, as events name them
  bool brought_anything_ = false;
};

bool Races::learn(const Channel& channel) {
  for (auto& [site, plain] : plain_) plain.visits = 0;
  return Execution(channel, plain_).learn();
}

std::vector<abi::SiteId> Races::quiet_sites() const {
  std::vector<abi::SiteId> sites;
  for (const auto& [site, plain] : plain_) {
    if (!plain.raced) sites.push_back(site);
  }
  std::sort(sites.begin(), sites.end());
  return sites;
}

}  // namespace heddle::driver
