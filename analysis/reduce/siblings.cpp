// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/siblings.h"

#include <algorithm>

#include "analysis/reduce/common.h"

namespace heddle::analysis {

Siblings::Siblings(const Attempt& run, std::uint64_t others_part)
    : run_(run),
      others_part_(others_part),
      nothing_(run.trace.events.size()),
      last_missing_(nothing_),
      last_(run.number) {}

Siblings::Sibling Siblings::without(const LeftOut& left_out) const {
  Sibling sibling{project(run_, left_out), {}};
  const std::vector<bool>& missing = sibling.projected.missing;
  sibling.common = in_common(run_, missing, nothing_, run_.number);
  const Common with_last = in_common(run_, missing, last_missing_, last_);
  if (with_last.events > sibling.common.events) sibling.common = with_last;
  sibling.common.others_part = static_cast<std::uint64_t>(std::count(
      missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(others_part_), false));
  return sibling;
}

void Siblings::executed(const Sibling& sibling, std::uint64_t number) {
  if (number == 0) return;
  last_ = number;
  last_missing_ = sibling.projected.missing;
}

}  // namespace heddle::analysis
