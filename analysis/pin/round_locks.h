// SPDX-License-Identifier: Apache-2.0
//
// Places that move because of locks: nobody can wait for a thread that needs the lock he holds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/oracle.h"
#include "analysis/pin/stops.h"

namespace heddle::analysis {

/// A critical section a stop is in: its lock by a name that holds in other runs, too.
struct Held {
  std::string lock;
  Stop acquired;
  std::optional<Stop> released;
};

/// Critical sections round stops, from the failed run or, for what it did not come to, from the
/// passing run that is nearest.
class Sections {
 public:
  /// Keeps references to all of them.
  Sections(const Accesses& failed, const Arrivals& arrivals, const std::optional<Attempt>& nearest);

  /// From the outermost.
  std::vector<Held> round(const Stop& stop) const;

 private:
  std::vector<Held> sections(const Accesses& accesses, const Arrivals& arrivals, std::size_t event,
                             std::size_t later) const;

  const Accesses& failed_;
  const Arrivals& arrivals_;
  std::optional<Accesses> nearest_;
  std::optional<Arrivals> nearest_arrivals_;
};

/// Of accesses under one lock the critical sections are ordered instead.
std::vector<Constraint> round_locks(std::vector<Constraint> constraints, const Sections& sections);

}  // namespace heddle::analysis
