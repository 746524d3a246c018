// SPDX-License-Identifier: Apache-2.0
//
// Criterion (II) of reduce.h, asked of as little as possible. A candidate that has met (I) and
// passes one after the other is a concurrency bug, whatever the whole program does in that order:
// the whole program is executed only when a candidate has been turned down for failing so and none
// has been accepted since. Then it has to be known whether it was the candidate's fault. Where the
// whole program fails in every order, too, some other schedule may let it pass: if one by chance
// does, a candidate has to pass in one of the same, else its work is missing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analysis/oracle.h"

namespace heddle::analysis {

class SequentialCheck {
 public:
  enum class Answer {
    Passes,
    Fails,          // and the run it was made from does not, as far as is known
    CannotBeAsked,  // no order is known in which that run passes, nor does it promptly or by chance
  };
  using Count = std::function<void(const Attempt&)>;

  /// `original_events`: of the run to be reduced. `count` is told every execution.
  SequentialCheck(ReducingOracle& oracle, std::uint64_t original_events, Count count);

  /// Of a candidate that fails under its own schedule. What passes is taken to be accepted.
  Answer ask(const Attempt& candidate);

  /// After a part of the reduction, with the best run so far: whether an answer was wrong, since
  /// that run itself fails in the order that was used. Asking again then uses another order.
  bool revise(const Attempt& best);

  /// Finds out of the best run whether it passes in an order, if nobody has asked so far.
  /// `passes_undecided`: it is known to, where nothing is decided, which is the first order.
  void confirm(const Attempt& best, bool passes_undecided);

  /// In which the best run so far passes; nothing: in none that was tried.
  std::optional<std::uint64_t> order() const { return holds_ ? order_ : std::nullopt; }
  /// There is none, but it passes with every thread running as soon as it is created.
  bool promptly_alone() const { return prompt_ == Prompt::Alone; }
  /// There is none, and it does not pass promptly either, but in schedules by chance.
  bool by_chance_alone() const { return by_chance_; }

 private:
  /// Whether it passes with every thread running to its end as soon as it is created, too.
  enum class Prompt {
    NotKnown,
    Passes,
    Alone,  // and in no other order
    NotAsked,
  };

  Attempt run(const Attempt& attempt, std::uint64_t order);
  /// Of a run, or of what there was of it before it failed.
  bool passes_promptly(Attempt run);
  /// Whether one of some executions by chance does not fail.
  bool passes_by_chance(const Attempt& run);
  /// From the order used so far on, the first in which `best` passes, and the run that does. If
  /// there is none, whether it passes promptly, and if not, by chance.
  std::optional<Attempt> find_order(const Attempt& best);

  ReducingOracle& oracle_;
  const std::uint64_t original_events_;
  const Count count_;
  std::optional<std::uint64_t> order_ = 0;
  bool holds_ = false;  // the best run so far is known to pass in that order
  Prompt prompt_ = Prompt::NotKnown;
  bool by_chance_ = false;
  bool in_doubt_ = false;  // something was turned down for a reason that is not known to hold
};

}  // namespace heddle::analysis
