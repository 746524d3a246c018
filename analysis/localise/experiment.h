// SPDX-License-Identifier: Apache-2.0
//
// Whether a pair is a cause, asked of the program itself: the failing execution again with only
// this pair turned round (does the failure go away?), and executions that passed with the pair
// forced on them (does it follow?). No paper here does that; docs/locate.md says what it proves.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/localise/pairs.h"

namespace heddle::analysis {

/// An execution with everything derived from it.
struct Observed {
  explicit Observed(Attempt attempt);
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  Attempt attempt;
  Accesses accesses;
  std::vector<PairInstance> instances;
};

/// A pair by names any execution can look up.
struct PairPoints {
  Point first;
  Point second;
  auto operator<=>(const PairPoints&) const = default;
};

enum class Verdict : std::uint8_t {
  Holds,       // the experiment came out as it does for a cause
  Refuted,     // it could be made, and came out otherwise
  Impossible,  // synchronisation or program order does not allow it
};

class Experiments {
 public:
  /// `on_attempt` sees every execution made.
  Experiments(SteeringOracle& oracle, const Observed& failed,
              std::function<void(Attempt&&)> on_attempt);

  /// The failing execution, all its orders kept but that of `pair`.
  Verdict forbid(const PairPoints& pair);
  /// `base` with these pairs forced. `origin` tells of the pairs' events what `base` does not have.
  Verdict enforce(const std::vector<PairPoints>& pairs, const Observed& base,
                  const Observed& origin);

  /// Whether an execution that keeps `order`, near the failing one or without preemptions, passes
  /// and is as `wanted`.
  bool passes_with(const Order& order, const std::function<bool(const Observed&)>& wanted);

  std::uint64_t executions() const { return executions_; }

 private:
  Verdict forbid_from(const PairPoints& pair, std::size_t hold, std::size_t until,
                      std::size_t section_end);
  Observed steer(const trace::Schedule& schedule, const std::vector<Order>& orders);

  SteeringOracle& oracle_;
  const Observed& failed_;
  const std::string signature_;
  std::function<void(Attempt&&)> on_attempt_;
  std::vector<Order> kept_orders_;  // for each instance of the failed run
  std::uint64_t executions_ = 0;
};

}  // namespace heddle::analysis
