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
  void learn(const Channel& channel);

  bool raced(abi::SiteId site) const {
    const auto found = plain_.find(site);
    return found != plain_.end() && found->second;
  }
  /// Sites of plain accesses that were seen and never raced, in order.
  std::vector<abi::SiteId> quiet_sites() const;

 private:
  class Execution;
  std::unordered_map<abi::SiteId, bool> plain_;  // → it raced
};

}  // namespace heddle::driver
