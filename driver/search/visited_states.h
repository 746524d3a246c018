// SPDX-License-Identifier: Apache-2.0
//
// Which choices in which states (happens_before.h) a systematic search has gone on from, at which
// cost and with which threads asleep.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "driver/search/frontier.h"

namespace heddle::driver {

class VisitedStates {
 public:
  /// Notes that this choice is gone on from. True if it has been, by a visit that covers this one:
  /// of no higher cost, with no more threads asleep.
  bool visit(std::uint64_t key, std::uint32_t cost, const Sleep& sleep) {
    std::vector<std::uint64_t> asleep;
    for (const Asleep& entry : sleep) asleep.push_back(entry.thread);
    std::sort(asleep.begin(), asleep.end());
    const auto found = visits_.find(key);
    if (found != visits_.end()) {
      for (const Visit& visit : found->second) {
        if (visit.cost <= cost &&
            std::includes(asleep.begin(), asleep.end(), visit.asleep.begin(), visit.asleep.end())) {
          return true;
        }
      }
      found->second.push_back({cost, std::move(asleep)});
    } else if (visits_.size() < kMostStates) {
      visits_[key].push_back({cost, std::move(asleep)});
    }
    return false;
  }

 private:
  static constexpr std::size_t kMostStates = 4 << 20;  // beyond, states are only not recognised
  struct Visit {
    std::uint32_t cost;
    std::vector<std::uint64_t> asleep;  // sorted
  };
  std::unordered_map<std::uint64_t, std::vector<Visit>> visits_;
};

}  // namespace heddle::driver
