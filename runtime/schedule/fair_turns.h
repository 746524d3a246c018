// SPDX-License-Identifier: Apache-2.0
//
// The second half of a run that does not end: whatever the strategy, from then on threads take
// turns. A run that still makes no progress has been scheduled fairly, so that not the schedule is
// to blame but the program; one whose strategy starved a thread that others wait for comes to its
// end (fair stateless model checking, Musuvathi and Qadeer, PLDI 2008, done once and late).
//
// Turns grow: in step, two threads that give way to each other might do so for ever, where any
// uneven schedule lets one of them pass.
//
// Rejected: taking a thread that looks at unchanged memory again and again out of the enabled set
// until that changes. A thread may look at memory a thousand times for good reason, and every order
// in which it is done before the others would be lost to the search.
#pragma once

#include <cstdint>

#include "runtime/schedule/spin_watch.h"
#include "runtime/schedule/strategy.h"

namespace heddle::runtime {

class FairTurns {
 public:
  /// `most_events`: with which the run would be stopped.
  void begin_run(std::uint64_t most_events) {
    begins_at_ = most_events - most_events / 2;
    turn_ends_at_ = 0;
    length_ = kFirstLength;
  }

  bool apply(std::uint64_t events) const { return events >= begins_at_; }

  /// Depends on nothing but the events so far: a replay takes the same turns.
  abi::ThreadIndex choose(const ThreadSet& enabled, abi::ThreadIndex current,
                          std::uint64_t events) {
    if (events < turn_ends_at_ && enabled.contains(current)) return current;
    const abi::ThreadIndex next = next_in_circle(enabled, current);
    if (next <= current && length_ < kMostLength) length_ *= 2;  // once around
    turn_ends_at_ = events + length_;
    return next;
  }

 private:
  static constexpr std::uint64_t kFirstLength = 16;
  static constexpr std::uint64_t kMostLength = 1024;

  std::uint64_t begins_at_ = 0;
  std::uint64_t turn_ends_at_ = 0;
  std::uint64_t length_ = kFirstLength;
};

}  // namespace heddle::runtime
