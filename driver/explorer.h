// SPDX-License-Identifier: Apache-2.0
//
// The search loop: workers take trials from a search, execute them, and hand failures on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "driver/outcome.h"
#include "driver/program.h"
#include "driver/search/search.h"
#include "driver/target.h"
#include "trace/schedule.h"
#include "trace/trace.h"

namespace heddle::driver {

/// One execution, with everything needed to keep it.
struct KeptRun {
  std::uint64_t number = 0;  // of its trial
  trace::Trace trace;
  trace::Schedule schedule;
  std::string standard_output;
  std::string standard_error;
  double seconds = 0;
  std::optional<std::string> leak;  // how a repetition differed, if one was asked for
};

struct ExploreLimits {
  std::uint64_t schedules = 0;                  // 0: no limit
  std::chrono::milliseconds time{0};            // 0: no limit
  std::chrono::milliseconds execution{10'000};  // after which an execution counts as hanging
  unsigned workers = 1;
  bool all = false;  // go on after the first failure
  std::string fails_if;
  bool check_determinism = false;  // repeat each schedule and compare (driver/determinism.h)
  const std::atomic<bool>* interrupted = nullptr;
};

struct ExploreStatus {
  std::uint64_t schedules = 0;
  std::uint64_t failing = 0;
  std::uint64_t distinct_failures = 0;
  double seconds = 0;
  std::map<std::string, std::uint64_t> failures;  // failing schedules of each signature
};

/// A schedule that gave another run when it was repeated; the search ends there.
struct Leak {
  std::uint64_t number = 0;  // of its trial
  std::string difference;
};

struct ExploreResult {
  ExploreStatus status;
  std::optional<std::uint64_t> first_failure;  // number of the first failing trial
  std::optional<std::uint32_t> exhausted_bound;
  bool interrupted = false;
  std::optional<Leak> leak;
  abi::ResetObstacle reset_obstacle = abi::ResetObstacle::None;  // why executions were forked
};

/// Called with the first failure of each signature, as soon as it is found (and, where workers
/// overtake each other, again if an earlier trial turns out to have the same).
using OnFailure = std::function<void(const KeptRun&)>;
using OnStatus = std::function<void(const ExploreStatus&)>;

ExploreResult explore(const Program& program, const Inputs& inputs, Search& search,
                      const ExploreLimits& limits, const OnFailure& on_failure,
                      const OnStatus& on_status);

/// How an execution ended. Throws when that says nothing about the program: Heddle could not go on.
Ending judge(const Program& program, const Target& target, const Execution& execution,
             const std::string& fails_if);

/// A single execution under the given options and plan.
KeptRun run_once(const Program& program, const Inputs& inputs, const abi::Options& options,
                 std::span<const abi::PlanRecord> plan, const ExploreLimits& limits);

}  // namespace heddle::driver
