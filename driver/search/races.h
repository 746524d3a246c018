// SPDX-License-Identifier: Apache-2.0
//
// Which plain accesses raced in the executions so far: two threads used the same memory, one wrote,
// and no synchronisation put one before the other. Where nothing races, a switch of threads
// between two synchronisations makes no difference (Musuvathi and Qadeer, PLDI 2007), so that only
// these accesses need be scheduling points. On the safe side: memory is told apart in units of
// eight bytes, and accesses to large ranges by how far they reach.
#pragma once

#include <unordered_map>
#include <vector>

#include "abi/channel.h"
#include "driver/channel.h"

namespace heddle::driver {

class Races {
 public:
  /// Returns whether that brought anything: a site nobody had come to, or one that raced for the
  /// first time.
  bool learn(const Channel& channel);

  bool raced(abi::SiteId site) const {
    const auto found = plain_.find(site);
    return found != plain_.end() && found->second.raced;
  }
  /// Whether there were so many accesses at the site in some execution that to see each of them
  /// takes long.
  bool is_frequent(abi::SiteId site) const {
    const auto found = plain_.find(site);
    return found != plain_.end() && found->second.most_visits > kFewVisits;
  }
  /// Sites of plain accesses that were seen and never raced, in order.
  std::vector<abi::SiteId> quiet_sites() const;

 private:
  class Execution;
  struct Plain {
    bool raced = false;
    std::uint32_t visits = 0;  // in the execution that is being learned from
    std::uint32_t most_visits = 0;
  };
  static constexpr std::uint32_t kFewVisits = 100;

  std::unordered_map<abi::SiteId, Plain> plain_;  // sites of plain accesses
};

}  // namespace heddle::driver
