// SPDX-License-Identifier: Apache-2.0
#include "driver/search/races.h"

#include <algorithm>

#include "abi/names.h"
#include "analysis/conflicts/clocks.h"
#include "driver/search/footprint.h"

namespace heddle::driver {
namespace {

bool is_plain(abi::EventKind kind) {
  return kind == abi::EventKind::Load || kind == abi::EventKind::Store ||
         kind == abi::EventKind::RangeRead || kind == abi::EventKind::RangeWrite;
}

/// Also what is never plain: an atomic access, and a free, race with accesses that are.
bool uses_memory(abi::EventKind kind) {
  const abi::Access access = abi::access_of(kind);
  return access == abi::Access::Read || access == abi::Access::Write ||
         access == abi::Access::Update;
}

/// Nobody's names are needed for what happens before what.
trace::Trace nameless(const Channel& channel) {
  trace::Trace trace;
  trace.threads.resize(channel.threads().size());
  trace.events.reserve(channel.events().size());
  for (const abi::EventRecord& event : channel.events()) {
    trace.events.push_back({event.kind, event.thread, event.site, event.object, event.size,
                            event.offset, event.value, event.aux});
  }
  return trace;
}

/// The last access of one thread at one site to something, and all it has reached of it.
struct Use {
  abi::ThreadIndex thread = 0;
  abi::SiteId site = 0;
  std::size_t event = 0;
  bool writes = false;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

bool overlap(const Use& a, const Use& b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

class Races::Execution {
 public:
  Execution(const Channel& channel, std::unordered_map<abi::SiteId, bool>& plain)
      : channel_(channel),
        footprints_(channel),
        trace_(nameless(channel)),
        clocks_(trace_, analysis::LockEdges::Counted),
        plain_(plain) {}

  void learn() {
    for (std::size_t i = 0; i < channel_.events().size(); ++i) {
      const abi::EventRecord& event = channel_.events()[i];
      if (event.thread >= trace_.threads.size()) return;
      clocks_.advance(i);
      if (is_plain(event.kind)) plain_.try_emplace(event.site, false);
      if (uses_memory(event.kind)) access(event, i);
    }
  }

 private:
  using Uses = std::vector<Use>;
  using Reached = std::unordered_map<std::uint64_t, Use>;  // by thread and site
  struct Object {
    Reached all;
    Reached large;  // of these, what is not in units_
  };

  void access(const abi::EventRecord& event, std::size_t index) {
    const Footprint footprint = footprints_.of(event);
    if (footprint.object == 0) return;
    const Use use{event.thread,    event.site,   index, footprint.memory == Touch::Write,
                  footprint.begin, footprint.end};
    Object& object = objects_[footprint.object];
    if (is_large(footprint)) {
      for (const auto& [key, other] : object.all) compare(use, other);
      add(object.large, use);
    } else {
      for (const auto& [key, other] : object.large) compare(use, other);
      for_each_unit(footprint, [&](std::uint64_t unit) { add_to_unit(units_[unit], use); });
    }
    add(object.all, use);
  }

  static void add(Reached& reached, const Use& use) {
    const std::uint64_t key = std::uint64_t{use.thread} << 32 | use.site;
    Use& known = reached.try_emplace(key, use).first->second;
    known.event = use.event;
    known.writes |= use.writes;
    known.begin = std::min(known.begin, use.begin);
    known.end = std::max(known.end, use.end);
  }

  void add_to_unit(Uses& uses, const Use& use) {
    Use* own = nullptr;
    for (Use& other : uses) {
      if (other.thread == use.thread && other.site == use.site) {
        own = &other;
      } else if (other.thread != use.thread && (other.writes || use.writes)) {
        judge(use, other);
      }
    }
    if (own == nullptr) {
      uses.push_back(use);
    } else {
      own->event = use.event;
      own->writes |= use.writes;
    }
  }

  void compare(const Use& use, const Use& other) {
    if (other.thread != use.thread && (other.writes || use.writes) && overlap(use, other)) {
      judge(use, other);
    }
  }

  void judge(const Use& use, const Use& other) {
    if (clocks_.knows(use.thread, other.thread, other.event)) return;
    for (const abi::SiteId site : {use.site, other.site}) {
      if (const auto plain = plain_.find(site); plain != plain_.end()) plain->second = true;
    }
  }

  const Channel& channel_;
  const Footprints footprints_;
  const trace::Trace trace_;
  analysis::Clocks clocks_;
  std::unordered_map<abi::SiteId, bool>& plain_;
  std::unordered_map<std::uint64_t, Uses> units_;
  std::unordered_map<std::uint64_t, Object> objects_;
};

void Races::learn(const Channel& channel) {
  Execution(channel, plain_).learn();
}

std::vector<abi::SiteId> Races::quiet_sites() const {
  std::vector<abi::SiteId> sites;
  for (const auto& [site, raced] : plain_) {
    if (!raced) sites.push_back(site);
  }
  std::sort(sites.begin(), sites.end());
  return sites;
}

}  // namespace heddle::driver
