// SPDX-License-Identifier: Apache-2.0
//
// How much of a program its trials look at (--preempt-at, decision 21). Some trials see all of it,
// to learn; the others have no scheduling points where none is needed, and in large executions do
// not even see what happens there.
//
// `auto` changes nothing before an execution has had many events. Then it keeps to what raced; what
// else might race is learned from looks: trials that see, besides, all accesses that are not
// frequent, and the frequent ones for a while. A look that shows nothing new makes the next one
// later and longer.
#pragma once

#include <cstdint>

#include "driver/search/knowledge.h"
#include "driver/search/races.h"
#include "driver/search/search.h"

namespace heddle::driver {

class Narrowing {
 public:
  explicit Narrowing(const abi::Options& options);

  void apply(Trial& trial, const Knowledge& knowledge);
  /// Returns whether executions have turned out to be large, for the first time.
  bool learn(const Trial& trial, const Channel& channel);
  /// An execution of the trial was stopped for the number of its events. Learns from those, and
  /// makes the trial see less. False: there is nothing (more) to overlook.
  bool narrow(Trial& trial, const Channel& channel);
  /// From now on no trial overlooks anything.
  void see_everything() { may_overlook_ = false; }
  /// Whether trials are in use that overlook what others would have to see.
  bool overlooks() const { return may_overlook_ && is_large_; }
  /// Whether the trial sees more than what it switches threads at.
  static bool is_look(const Trial& trial) {
    return trial.options.overlook != 0 && trial.options.see_events != 0;
  }

 private:
  void apply_every_eighth(Trial& trial, const Knowledge& knowledge) const;
  void overlook(Trial& trial) const;
  void begin_look(Trial& trial);
  void judge_look(std::uint64_t number, bool was_worth_it);

  bool automatic_;
  bool narrows_;
  bool to_raced_;
  bool at_sync_;
  bool may_overlook_;
  bool is_large_ = false;
  std::uint64_t max_events_;
  std::uint64_t seed_;
  std::uint64_t events_ = 0;     // of the last trial that saw only what it had to
  std::uint64_t next_look_ = 0;  // number of the first trial that is to be one
  std::uint64_t pause_ = 1;      // trials between two looks
  std::uint64_t length_;         // of a look, in events
  Races races_;
};

}  // namespace heddle::driver
