// SPDX-License-Identifier: Apache-2.0
//
// How much of a program its trials look at (--preempt-at). Every few trials all of it, to learn;
// the others have no scheduling points where none is needed, and in large executions do not even
// see what happens there.
#pragma once

#include <cstdint>

#include "driver/search/knowledge.h"
#include "driver/search/races.h"
#include "driver/search/search.h"

namespace heddle::driver {

class Narrowing {
 public:
  explicit Narrowing(const abi::Options& options);

  void apply(Trial& trial, const Knowledge& knowledge) const;
  void learn(const Trial& trial, const Channel& channel);
  /// From now on no trial overlooks anything.
  void see_everything() { may_overlook_ = false; }

 private:
  bool narrows_;
  bool to_raced_;
  bool at_sync_;
  bool may_overlook_;
  std::uint64_t events_ = 0;  // of the last trial that saw everything
  Races races_;
};

}  // namespace heddle::driver
