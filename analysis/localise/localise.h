// SPDX-License-Identifier: Apache-2.0
//
// From one failed run to the accesses that are the bug, after LOCON (Wang et al., ASE 2014), with
// two things the paper does not have: the passing runs are made here, the nearest first, and what
// the test procedures suspect is put to the proof. docs/locate.md.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/finding.h"
#include "analysis/localise/procedures.h"

namespace heddle::analysis {

struct LocaliseOptions {
  std::optional<Procedure> procedure;  // only this one
  std::optional<Level> level;          // only this one; none: PC, then TID, then LOOP for III
  bool falcon = false;                 // the baseline instead of the procedures
  std::uint64_t max_passing = 300;
  std::uint64_t max_experiments = 300;
  std::vector<Attempt> given;  // passing runs that were kept
  std::function<bool()> stop;  // asked between executions
  std::function<void(std::string_view phase, std::uint64_t executions)> progress;
};

/// Throws a user error when the run did not fail, when the failure does not come back, and when a
/// given run is of another program or build or failed itself. No passing run at all is no error:
/// the result then has none.
Localisation localise(SteeringOracle& oracle, const Attempt& failed,
                      const LocaliseOptions& options);

}  // namespace heddle::analysis
