// SPDX-License-Identifier: Apache-2.0
//
// Which schedules to try, in which order. All search state lives here, in the driver's process; the
// target only follows the plan of one trial. Called by several workers at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "abi/channel.h"
#include "driver/channel.h"

namespace heddle::driver {

/// One schedule to try. The number alone tells random trials apart, so that what trial n does
/// depends neither on the number of workers nor on their speed.
struct Trial {
  std::uint64_t number = 0;  // from 1
  abi::Options options;
  std::vector<abi::PlanRecord> plan;
};

class Search {
 public:
  virtual ~Search() = default;
  /// Nothing when the search is over. May wait for trials that are under way.
  virtual std::optional<Trial> next() = 0;
  /// What the trial did. Called once for each trial that next() returned.
  virtual void observe(const Trial& trial, const Channel& channel) = 0;
  /// The largest number of preemptions within which every schedule has been tried.
  virtual std::optional<std::uint32_t> exhausted_bound() const { return std::nullopt; }
};

/// Independent trials that differ in their seed. `absent`: threads that no trial starts.
std::unique_ptr<Search> make_seeded_search(const abi::Options& options,
                                           std::vector<abi::PlanRecord> absent);

/// Every schedule with at most `max_preemptions` preemptions, those with fewer first: iterative
/// preemption bounding (Musuvathi and Qadeer, PLDI 2007), without sleep sets.
std::unique_ptr<Search> make_preemption_bounded_search(const abi::Options& options,
                                                       std::vector<abi::PlanRecord> absent,
                                                       std::uint32_t max_preemptions);

}  // namespace heddle::driver
