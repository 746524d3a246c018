// SPDX-License-Identifier: Apache-2.0
//
// Places that breakpoints name, found in one build of a program.
#pragma once

#include <string>
#include <vector>

#include "abi/abi.h"
#include "base/error.h"
#include "ir/site_table.h"
#include "trace/pins.h"

namespace heddle::driver {

/// A place that is not in the program. A user error that says what is near.
class UnknownPlace : public Error {
 public:
  explicit UnknownPlace(const std::string& message) : Error(ExitCode::UserMistake, message) {}
};

/// The sites a place means, in the order of their ids: one if it names a site, one for each copy
/// that was inlined if it names a line. `last`: of the instructions on a line the last counts.
/// Throws UnknownPlace, which names the nearest ones, if there is none.
std::vector<abi::SiteId> resolve(const trace::PinPlace& place, const ir::SiteTable& sites,
                                 bool last);

/// A function as a calling context; throws UnknownPlace, also where it was inlined everywhere.
std::vector<abi::SiteId> resolve_function(const trace::PinPlace& place, const ir::SiteTable& sites);

/// The calls that take a lock there; throws UnknownPlace.
std::vector<abi::SiteId> resolve_lock(const trace::PinPlace& place, const ir::SiteTable& sites);

/// All calls of the program that take a lock, or give one back.
struct LockCalls {
  std::vector<abi::SiteId> takers;
  std::vector<abi::SiteId> givers;
};
LockCalls lock_calls(const ir::SiteTable& sites);

}  // namespace heddle::driver
