// SPDX-License-Identifier: Apache-2.0
//
// How an analysis gets another execution of the program it thinks about. The driver implements it
// with the program; tests with a toy.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
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
  std::uint64_t number = 0;  // by which the oracle knows it again; 0: it does not
  std::uint64_t had = 0;     // events at its beginning that were not executed again
};

class Oracle {
 public:
  virtual ~Oracle() = default;
  /// Executes the program and takes each decision of `schedule` whose point is reached, in whatever
  /// order they are. Where it says nothing the running thread goes on, else the eldest that can.
  virtual Attempt follow(const trace::Schedule& schedule) = 0;
};

/// A thread's `occurrence`-th event at a site: an event by a name that other executions know too. A
/// flush is one of the flusher, at the site of the store.
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
class SteeringOracle : public virtual Oracle {
 public:
  using Oracle::follow;
  /// As follow(), but the orders come before the schedule's decisions. When all threads that could
  /// go on have to wait, the last of the orders that hold them is given up.
  virtual Attempt steer(const trace::Schedule& schedule, const std::vector<Order>& orders) = 0;
  /// An execution by chance with the inputs and the memory model of `schedule`.
  virtual Attempt wander(const trace::Schedule& schedule, std::uint64_t seed) = 0;
  /// The same, but all threads run at once, as natively, and are now and then held up for a random
  /// time before an access (LOCON, 4.4).
  virtual Attempt delay(const trace::Schedule& schedule, std::uint64_t seed) = 0;
  /// Whether the steps of its executions say which loops a thread is in.
  virtual bool tells_loops() const { return false; }
};

/// The first `events` of an execution are those of the attempt with this number.
struct Common {
  std::uint64_t attempt = 0;  // 0: of none that is known
  std::uint64_t events = 0;
  // If it has to be executed from the beginning: others will probably part from it behind so many.
  std::uint64_t others_part = 0;
};

/// A schedule, and after how many events an execution of it leads nowhere.
struct BoundedSchedule {
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  trace::Schedule schedule;
  std::uint64_t most_events = kAll;
  Common common = {};  // the oracle need not execute these again
};

/// What to look for, in which schedules, and how long.
struct SearchRequest {
  /// Every schedule with so many preemptions, the fewest first; or any, as they find failures.
  enum class Among { FewPreemptions, Any };
  Among among = Among::FewPreemptions;
  std::string signature;
  std::uint32_t most_preemptions = 0;
  std::uint64_t most_executions = 0;
  std::uint64_t most_events = 0;  // of all executions together
  Common alone = {};              // events at the beginning, in which nobody has a choice
  std::function<bool()> stop;
};

struct SearchResult {
  std::optional<Attempt> found;  // with as few preemptions as any
  std::uint64_t executions = 0;
  std::uint64_t events = 0;
  bool complete = false;  // every schedule within the bound was tried: there is none if not found
};

/// What reduction needs beyond following. In all of these, of the program without the absent
/// threads and skipped iterations of a schedule.
class ReducingOracle : public virtual Oracle {
 public:
  /// How many executions it does at the same time.
  virtual unsigned parallel() const { return 1; }
  /// follow() for each schedule. What has not ended within its bound is stopped there: no-progress.
  virtual std::vector<Attempt> follow_all(std::span<const BoundedSchedule> schedules) = 0;
  /// Executes without preemption. `order` says who goes on when a thread cannot: 0 the eldest, 1
  /// the youngest, any other number in an order of its own, the same whichever threads are absent.
  /// The decisions of the schedule do not matter.
  virtual Attempt run_sequentially(const trace::Schedule& schedule, std::uint64_t order,
                                   const Common& common) = 0;
  /// An execution by chance. The decisions of the schedule do not matter.
  virtual Attempt wander(const trace::Schedule& schedule, std::uint64_t seed) = 0;
  /// Looks for a failure with that signature. The decisions of the schedule do not matter.
  virtual SearchResult search(const trace::Schedule& schedule, const SearchRequest& request) = 0;
};

}  // namespace heddle::analysis
