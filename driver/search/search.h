// SPDX-License-Identifier: Apache-2.0
//
// Which schedules to try, in which order. All search state lives here, in the driver's process; the
// target only follows the plan of one trial.
//
// A TrialSource is one way of choosing (driver/search/, one file each); Search takes trials from
// one or several of them, learns from what each trial did, and is called by several workers at
// once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// How one of several strategies has done so far.
struct StrategyStatus {
  std::string name;
  std::uint64_t trials = 0;
  std::uint64_t new_pairs = 0;  // reads-from pairs it was the first to bring
  std::uint64_t failing = 0;
};

struct SearchStatus {
  std::uint64_t pairs = 0;       // distinct reads-from pairs seen
  std::uint64_t behaviours = 0;  // distinct sets of them
  double mean_events = 0;        // of a trial
  std::vector<StrategyStatus> strategies;
  /// Systematic search: how many schedules wait at the bound that is being worked on.
  std::optional<std::uint32_t> bound;
  std::uint64_t waiting = 0;
  /// The largest bound within which every schedule has been tried.
  std::optional<std::uint32_t> exhausted;
};

class Search {
 public:
  virtual ~Search() = default;
  /// Nothing when the search is over. May wait for trials that are under way.
  virtual std::optional<Trial> next() = 0;
  /// What the trial did. Called once for each trial that next() returned.
  virtual void observe(const Trial& trial, const Channel& channel, bool failed) = 0;
  /// An execution of the trial had so many events that it was stopped: makes it one that sees less
  /// of the program. False: it cannot be done with fewer.
  virtual bool narrow(Trial& trial, const Channel& channel) = 0;
  /// What trials have in common; none has room for more events.
  virtual const abi::Options& options() const = 0;
  /// A trial that overlooked accesses failed in a way that it does not when they are seen: no
  /// trial is to overlook any from now on.
  virtual void see_everything() = 0;
  /// The largest number of preemptions (or delays) within which every schedule has been tried.
  virtual std::optional<std::uint32_t> exhausted_bound() const = 0;
  virtual SearchStatus status() const = 0;
};

/// What a search is to do. Strategies are those of strategy_names(), each at most once.
struct SearchSettings {
  std::vector<std::string> strategies;
  abi::Options options;
  std::vector<abi::PlanRecord> absent;  // threads that no trial starts
  std::uint32_t max_preemptions = 2;    // chess
  std::uint32_t max_delays = 2;         // delay
  /// Leave out schedules that differ from tried ones only in the order of independent operations.
  /// Not allowed where output decides on failure: what is written is no operation.
  bool prune = true;
};

/// The names make_search takes, in the order in which help lists them.
std::vector<std::string_view> strategy_names();

/// A search with one or several strategies. Throws a user error for a name that is not there or
/// stands twice.
std::unique_ptr<Search> make_search(const SearchSettings& settings);

}  // namespace heddle::driver
