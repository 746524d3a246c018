// SPDX-License-Identifier: Apache-2.0
//
// Trials that are made of one run, each by leaving out something else of it: their schedules, and
// what each has in common with the run or with the trial executed before it, whichever is more.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/reduce/projection.h"

namespace heddle::analysis {

class Siblings {
 public:
  /// `others_part`: behind so many events of the run most of its trials will part. 0: not known.
  explicit Siblings(const Attempt& run, std::uint64_t others_part = 0);

  struct Sibling {
    Projected projected;
    Common common;
  };
  Sibling without(const LeftOut& left_out) const;

  /// It was executed, as the attempt of this number; 0: it was not.
  void executed(const Sibling& sibling, std::uint64_t number);

 private:
  const Attempt& run_;
  const std::uint64_t others_part_;
  const std::vector<bool> nothing_;  // is missing of the run itself
  std::vector<bool> last_missing_;   // of the last that was executed
  std::uint64_t last_;
};

}  // namespace heddle::analysis
