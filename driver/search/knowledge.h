// SPDX-License-Identifier: Apache-2.0
//
// What the trials so far have shown of the program, whoever proposed them: which reads saw which
// writes, which locations are shared. Deterministic in the order in which trials are learned from.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "abi/channel.h"
#include "driver/channel.h"

namespace heddle::driver {

/// What one trial brought.
struct News {
  std::uint64_t new_pairs = 0;
  bool new_behaviour = false;
  bool failed = false;
};

/// A write that a read by another thread saw, by their sites.
struct ReadsFrom {
  abi::SiteId write = 0;
  abi::SiteId read = 0;
};

class Knowledge {
 public:
  News learn(const Channel& channel);

  std::uint64_t pairs() const { return seen_.size(); }
  std::uint64_t behaviours() const { return behaviours_.size(); }
  double mean_events() const;
  /// Mean number of choices in a trial; 0 before the first.
  std::uint64_t length() const;

  /// For each location that two threads used and one wrote: the sites that used it.
  const std::vector<std::vector<abi::SiteId>>& shared_locations() const { return shared_; }
  /// Pairs that might exist because both sites used one shared location, and those that were seen.
  const std::vector<ReadsFrom>& unseen_pairs() const { return unseen_; }
  const std::vector<ReadsFrom>& seen_pairs() const { return seen_list_; }
  /// Where the outermost critical section around the operation at `site` began when it was last
  /// seen in one; else the site itself. Whoever is held there holds up nobody else.
  abi::SiteId entry_to(abi::SiteId site) const {
    const auto found = entries_.find(site);
    return found == entries_.end() ? site : found->second;
  }
  /// Sites of plain accesses that have only ever used memory of a single thread.
  std::vector<abi::SiteId> quiet_sites() const;

 private:
  struct Location {
    std::uint64_t first_thread = 0;
    bool several = false;
    bool written = false;
    std::uint32_t shared = 0;  // index in shared_ + 1
    std::vector<abi::SiteId> readers;
    std::vector<abi::SiteId> writers;
  };

  void note_access(Location& location, std::uint64_t thread, const abi::EventRecord& event,
                   bool writes);
  void add_candidates(const std::vector<abi::SiteId>& writers,
                      const std::vector<abi::SiteId>& readers);

  std::uint64_t trials_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t choices_ = 0;
  std::unordered_set<std::uint64_t> seen_;
  std::unordered_set<std::uint64_t> known_;  // pairs that are seen or in unseen_
  std::unordered_set<std::uint64_t> behaviours_;
  std::vector<ReadsFrom> seen_list_;
  std::vector<ReadsFrom> unseen_;
  std::unordered_map<std::uint64_t, Location> locations_;
  std::vector<std::vector<abi::SiteId>> shared_;
  std::unordered_map<abi::SiteId, abi::SiteId> entries_;  // of sites in critical sections
  std::unordered_map<abi::SiteId, bool> plain_sites_;     // → it used something shared
};

}  // namespace heddle::driver
