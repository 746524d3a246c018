// SPDX-License-Identifier: Apache-2.0
#include "driver/search/knowledge.h"

#include <algorithm>

#include "abi/locks.h"
#include "abi/names.h"
#include "driver/search/footprint.h"

namespace heddle::driver {
namespace {

// Beyond these a search no longer gets better by remembering more.
constexpr std::size_t kMostLocations = 1 << 20;
constexpr std::size_t kMostBehaviours = 1 << 20;
constexpr std::size_t kMostCandidates = 1 << 14;

std::uint64_t pair_key(abi::SiteId write, abi::SiteId read) {
  return std::uint64_t{write} << 32 | read;
}

bool insert_new(std::vector<abi::SiteId>& sites, abi::SiteId site) {
  if (std::find(sites.begin(), sites.end(), site) != sites.end()) return false;
  sites.push_back(site);
  return true;
}

/// Of one thread: how many locks it holds, and where it took the first of them.
struct CriticalSection {
  std::uint32_t depth = 0;
  abi::SiteId entry = 0;
};

bool releases_lock(abi::EventKind kind) {
  const abi::Locking does = abi::locking_of(kind);
  return does == abi::Locking::Releases || does == abi::Locking::Waits;
}

struct LastWrite {
  abi::SiteId site = 0;
  abi::ThreadIndex thread = abi::kNoThread;
};

}  // namespace

double Knowledge::mean_events() const {
  return trials_ == 0 ? 0 : static_cast<double>(events_) / static_cast<double>(trials_);
}

std::uint64_t Knowledge::length() const {
  return trials_ == 0 ? 0 : choices_ / trials_ + 1;
}

News Knowledge::learn(const Channel& channel) {
  News news;
  ++trials_;
  events_ += channel.events().size();
  choices_ += channel.decisions().size();
  const Footprints footprints(channel);
  std::unordered_map<std::uint64_t, LastWrite> last;
  std::unordered_map<abi::ThreadIndex, CriticalSection> sections;
  std::uint64_t behaviour = 0;
  for (const abi::EventRecord& event : channel.events()) {
    CriticalSection& section = sections[event.thread];
    if (abi::acquires_lock(event.kind, event.value) && section.depth++ == 0) {
      section.entry = event.site;
    }
    if (section.depth > 0 && section.entry != event.site) entries_[event.site] = section.entry;
    if (releases_lock(event.kind) && section.depth > 0) --section.depth;
    const Footprint footprint = footprints.of(event);
    if (footprint.memory == Touch::None || event.site < abi::kFirstSite) continue;
    const bool writes = footprint.memory == Touch::Write;
    const bool reads = abi::access_of(event.kind) != abi::Access::Write;
    const std::uint64_t thread = footprints.thread_hash(event.thread);
    if (is_plain(event.kind)) plain_sites_.try_emplace(event.site, is_large(footprint));
    for_each_unit(footprint, [&](std::uint64_t unit) {
      LastWrite& write = last[unit];
      if (reads && write.thread != abi::kNoThread && write.thread != event.thread) {
        // Which thread it was counts for a behaviour, not for a pair: threads that run the same
        // code would bring the same news again and again.
        behaviour += abi::path_hash(abi::path_hash(footprints.thread_hash(write.thread), thread),
                                    pair_key(write.site, event.site));
        const std::uint64_t key = pair_key(write.site, event.site);
        if (seen_.insert(key).second) {
          ++news.new_pairs;
          known_.insert(key);
          seen_list_.push_back({write.site, event.site});
          std::erase_if(unseen_, [&](const ReadsFrom& pair) {
            return pair.write == write.site && pair.read == event.site;
          });
        }
      }
      if (writes) write = {event.site, event.thread};
      const auto found = locations_.find(unit);
      if (found != locations_.end()) {
        note_access(found->second, thread, event, writes);
      } else if (locations_.size() < kMostLocations) {
        note_access(locations_[unit], thread, event, writes);
      }
    });
  }
  if (behaviours_.size() < kMostBehaviours) {
    news.new_behaviour = behaviours_.insert(behaviour).second;
  }
  return news;
}

void Knowledge::note_access(Location& location, std::uint64_t thread, const abi::EventRecord& event,
                            bool writes) {
  const bool reads = abi::access_of(event.kind) != abi::Access::Write;
  if (location.first_thread == 0) location.first_thread = thread;
  location.several |= location.first_thread != thread;
  location.written |= writes;
  const bool new_writer = writes && insert_new(location.writers, event.site);
  const bool new_reader = reads && insert_new(location.readers, event.site);
  if (!location.several || !location.written) return;
  if (location.shared == 0) {
    shared_.emplace_back();
    location.shared = static_cast<std::uint32_t>(shared_.size());
    for (const abi::SiteId site : location.readers) insert_new(shared_.back(), site);
    for (const abi::SiteId site : location.writers) {
      insert_new(shared_.back(), site);
      add_candidates({site}, location.readers);
    }
    for (const abi::SiteId site : shared_.back()) {
      if (const auto plain = plain_sites_.find(site); plain != plain_sites_.end()) {
        plain->second = true;
      }
    }
  } else {
    if (new_writer) add_candidates({event.site}, location.readers);
    if (new_reader) add_candidates(location.writers, {event.site});
    insert_new(shared_[location.shared - 1], event.site);
    if (const auto plain = plain_sites_.find(event.site); plain != plain_sites_.end()) {
      plain->second = true;
    }
  }
}

void Knowledge::add_candidates(const std::vector<abi::SiteId>& writers,
                               const std::vector<abi::SiteId>& readers) {
  for (const abi::SiteId write : writers) {
    for (const abi::SiteId read : readers) {
      if (unseen_.size() >= kMostCandidates) return;
      if (known_.insert(pair_key(write, read)).second) unseen_.push_back({write, read});
    }
  }
}

std::vector<abi::SiteId> Knowledge::quiet_sites() const {
  std::vector<abi::SiteId> sites;
  for (const auto& [site, shared] : plain_sites_) {
    if (!shared) sites.push_back(site);
  }
  std::sort(sites.begin(), sites.end());
  return sites;
}

}  // namespace heddle::driver
