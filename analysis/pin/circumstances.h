// SPDX-License-Identifier: Apache-2.0
//
// What tells one arrival at a place from the others there: the functions its thread is in, the
// locks it has. A breakpoint can be made to count only such arrivals (docs/pin.md, `within`,
// `holding`); unlike visits they do not depend on how often a loop that waits goes round.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/localise/accesses.h"
#include "analysis/pin/stops.h"

namespace heddle::analysis {

struct Circumstance {
  trace::PinPlace place;    // a function, or where a lock was taken
  std::uint32_t visit = 0;  // of its thread's arrivals in it; 0: there is just one
};

class Circumstances {
 public:
  /// Keeps references to both. Calling contexts need a trace with the steps of calls.
  Circumstances(const Accesses& accesses, const Arrivals& arrivals)
      : accesses_(accesses), arrivals_(arrivals) {}

  /// A function that the stop's thread was in, and not at every arrival there; that which the
  /// fewest arrivals share, of several the innermost.
  std::optional<Circumstance> calling_context(const Stop& stop) const;
  /// The same of locks, by the place where it was taken.
  std::optional<Circumstance> lock_held(const Stop& stop) const;

 private:
  using Marks = std::vector<trace::SiteIndex>;  // from the outermost
  Marks locks_round(std::size_t event) const;
  std::size_t taken_at(const Section& section) const;
  template <typename MarksOf>
  std::optional<std::pair<trace::SiteIndex, std::uint32_t>> telling(const Stop& stop,
                                                                    MarksOf marks_of) const;

  const Accesses& accesses_;
  const Arrivals& arrivals_;
};

}  // namespace heddle::analysis
