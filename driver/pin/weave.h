// SPDX-License-Identifier: Apache-2.0
//
// From breakpoints that name places to what is woven into one build of a program (abi/woven.h).
#pragma once

#include <map>
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

/// Gives numbers to the places of any number of sets of breakpoints, so that one link serves all.
class Loom {
 public:
  explicit Loom(const ir::SiteTable& sites) : sites_(sites) {}

  void add(const trace::Pins& pins);
  /// A place where nothing but freed memory is looked for.
  void watch(const trace::PinPlace& place);

  /// For the pass; `plan` is what the program does unless told otherwise.
  std::string weaving(const std::string& plan) const;
  /// What happens at the places of `pins`, all of which were added.
  std::string plan(const trace::Pins& pins) const;

 private:
  struct Stitch {
    trace::PinMoment moment = trace::PinMoment::Before;
    std::vector<abi::SiteId> sites;
    std::string when;
    auto operator<=>(const Stitch&) const = default;
  };
  Stitch stitch_of(const trace::PinPlace& place, trace::PinMoment moment,
                   const std::string& when) const;
  Stitch stitch_of(const trace::PinSide& side) const;
  Stitch end_of(const trace::PinSide& side) const;
  void number(const Stitch& stitch);
  std::size_t place_of(const Stitch& stitch) const { return places_.at(stitch); }

  const ir::SiteTable& sites_;
  std::map<Stitch, std::size_t> places_;
};

}  // namespace heddle::driver
