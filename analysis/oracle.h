// SPDX-License-Identifier: Apache-2.0
//
// How an analysis gets another execution of the program it thinks about. The driver implements it
// with the program; tests with a toy.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/schedule.h"
#include "trace/trace.h"

namespace heddle::analysis {

/// One execution: what it did, and the schedule that does exactly that again.
struct Attempt {
  trace::Trace trace;
  trace::Schedule schedule;
  std::string standard_output;
  std::string standard_error;
  double seconds = 0;
};

class Oracle {
 public:
  virtual ~Oracle() = default;
  /// Executes the program and takes each decision of `schedule` whose point is reached, in whatever
  /// order they are. Where it says nothing the running thread goes on, else the eldest that can.
  virtual Attempt follow(const trace::Schedule& schedule) = 0;
};

/// A thread's `occurrence`-th event at a site: an event by a name that other executions know too.
struct Point {
  std::string thread;
  std::string site;
  std::uint32_t occurrence = 1;
  auto operator<=>(const Point&) const = default;
};

/// `second` waits until `first` has been done.
struct Order {
  Point first;
  Point second;
  bool operator==(const Order&) const = default;
};

/// What localisation needs beyond following: executions with some orders changed, and other ones.
class SteeringOracle : public Oracle {
 public:
  using Oracle::follow;
  /// As follow(), but the orders come before the schedule's decisions. When all threads that could
  /// go on have to wait, the last of the orders that hold them is given up.
  virtual Attempt steer(const trace::Schedule& schedule, const std::vector<Order>& orders) = 0;
  /// An execution by chance with the inputs and the memory model of `schedule`.
  virtual Attempt wander(const trace::Schedule& schedule, std::uint64_t seed) = 0;
};

}  // namespace heddle::analysis
