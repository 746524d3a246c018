// SPDX-License-Identifier: Apache-2.0
//
// How much each thread does, counted in a recent run: what weighted strategies go by. Only runs of
// theirs are counted. A run that another strategy forced may be anything but typical: a thread that
// was made to spin has many times its usual events, and whoever goes by that starves the others.
#pragma once

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "abi/channel.h"
#include "driver/channel.h"

namespace heddle::driver {

/// How often a thread came to each site, in one run.
struct ThreadProfile {
  std::uint64_t hash = 0;
  std::uint64_t parent = 0;
  std::uint64_t events = 0;
  std::unordered_map<abi::SiteId, std::uint32_t> sites;
};

class Profile {
 public:
  /// Takes the 1st, 2nd, 4th, 8th run it is shown, and so on: recent, but not so often that
  /// counting costs more than it brings.
  void learn(const Channel& channel);
  /// Parents before their children; empty before the first run.
  const std::vector<ThreadProfile>& threads() const { return threads_; }

 private:
  std::uint64_t runs_ = 0;
  std::vector<ThreadProfile> threads_;
};

inline void Profile::learn(const Channel& channel) {
  if (!std::has_single_bit(++runs_)) return;
  const auto threads = channel.threads();
  threads_.assign(threads.size(), {});
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads_[i].hash = threads[i].hash;
    threads_[i].parent = threads[i].parent < i ? threads[threads[i].parent].hash : 0;
  }
  for (const abi::EventRecord& event : channel.events()) {
    if (event.thread >= threads_.size()) continue;
    ++threads_[event.thread].events;
    ++threads_[event.thread].sites[event.site];
  }
}

}  // namespace heddle::driver
