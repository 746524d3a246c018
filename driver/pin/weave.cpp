// SPDX-License-Identifier: Apache-2.0
#include "driver/pin/weave.h"

#include <fmt/format.h>

#include <algorithm>

#include "abi/woven.h"
#include "base/error.h"
#include "driver/pin/places.h"

namespace heddle::driver {
namespace {

/// For the pass (abi/woven.h).
const char* word_of(trace::PinMoment moment) {
  switch (moment) {
    case trace::PinMoment::Behind: return "after";
    case trace::PinMoment::Woken: return "woken";
    case trace::PinMoment::Before: break;
  }
  return "before";
}

}  // namespace

Loom::Stitch Loom::stitch_of(const trace::PinPlace& place, trace::PinMoment moment,
                             const std::string& when) const {
  Stitch stitch{moment, resolve(place, sites_, moment != trace::PinMoment::Before), when};
  if (moment != trace::PinMoment::Woken) return stitch;
  if (!when.empty()) throw user_error("a side that is \"woken\" cannot have a condition");
  for (const abi::SiteId site : stitch.sites) {
    if (sites_.find(site)->callee.find("cond") == std::string::npos) {
      throw UnknownPlace(fmt::format("{}:{} does not wait for a condition: nobody is woken there",
                                     place.file, place.line));
    }
  }
  return stitch;
}

Loom::Stitch Loom::stitch_of(const trace::PinSide& side) const {
  return stitch_of(side.at, side.moment, side.when);
}

Loom::Stitch Loom::end_of(const trace::PinSide& side) const {
  return stitch_of(*side.until,
                   side.until_before ? trace::PinMoment::Before : trace::PinMoment::Behind, {});
}

void Loom::number(const Stitch& stitch) {
  if (places_.try_emplace(stitch, places_.size()).second && places_.size() > HEDDLE_WOVEN_PLACES) {
    throw user_error(
        fmt::format("breakpoints at more than {} places at once", int{HEDDLE_WOVEN_PLACES}));
  }
}

Loom::Scope Loom::scope_of(const std::optional<trace::PinPlace>& place, ScopeKind kind) const {
  if (!place) return {};
  return {kind, kind == ScopeKind::Function ? resolve_function(*place, sites_)
                                            : resolve_lock(*place, sites_)};
}

std::size_t Loom::number_of(const Scope& scope) const {
  return scope.sites.empty() ? std::size_t{HEDDLE_WOVEN_SCOPES} : scopes_.at(scope);
}

void Loom::number(const Scope& scope) {
  if (scopes_.try_emplace(scope, scopes_.size()).second && scopes_.size() > HEDDLE_WOVEN_SCOPES) {
    throw user_error(
        fmt::format("more than {} calling contexts and locks at once", int{HEDDLE_WOVEN_SCOPES}));
  }
}

/// Which lock a thread has is known only if all that take one and give one back say so.
std::string Loom::weaving_of_scopes() const {
  std::string text;
  std::map<abi::SiteId, std::size_t> taken_at;
  for (const auto& [scope, number] : scopes_) {
    for (const abi::SiteId site : scope.sites) {
      if (scope.kind == ScopeKind::Function) {
        text += fmt::format("function {} {}\n", site, number);
      } else {
        taken_at[site] = number;
      }
    }
  }
  if (taken_at.empty()) return text;
  const LockCalls calls = lock_calls(sites_);
  for (const abi::SiteId site : calls.takers) {
    const auto known = taken_at.find(site);
    const std::size_t number =
        known != taken_at.end() ? known->second : std::size_t{HEDDLE_WOVEN_SCOPES};
    text += fmt::format("takes {} {}\n", site, number);
  }
  for (const abi::SiteId site : calls.givers) text += fmt::format("gives {} 0\n", site);
  return text;
}

void Loom::add(const trace::Pins& pins) {
  if (pins.size() > HEDDLE_WOVEN_BREAKPOINTS) {
    throw user_error(
        fmt::format("more than {} breakpoints at once", int{HEDDLE_WOVEN_BREAKPOINTS}));
  }
  for (const trace::PinBreakpoint& breakpoint : pins) {
    for (const trace::PinSide& side : breakpoint.at) {
      number(stitch_of(side));
      if (side.until) number(end_of(side));
      if (side.within) number(scope_of(side.within, ScopeKind::Function));
      if (side.holding) number(scope_of(side.holding, ScopeKind::Lock));
    }
  }
}

void Loom::watch(const trace::PinPlace& place) {
  number(stitch_of(place, trace::PinMoment::Before, {}));
}

std::string Loom::weaving(const std::string& plan) const {
  // What is woven later goes closer to the instruction: ends of one breakpoint's actions come
  // before arrivals of the next, whichever way the places were numbered.
  std::string text;
  for (const auto& [stitch, number] : places_) {
    for (const abi::SiteId site : stitch.sites) {
      text += fmt::format("{} {} {}{}{}\n", word_of(stitch.moment), site, number,
                          stitch.when.empty() ? "" : " ", stitch.when);
    }
  }
  // So a lock is held before a thread arrives behind where it was taken, and still held when it
  // arrives before where it is given back.
  return text + weaving_of_scopes() + "plan\n" + plan;
}

std::string Loom::plan(const trace::Pins& pins) const {
  std::string text;
  for (const trace::PinBreakpoint& b : pins) {
    text += fmt::format("breakpoint {} {} {} {} {} {}\n", b.sides, b.pause_ms, b.order_ms, b.bound,
                        b.give_up, b.name);
  }
  for (std::size_t i = 0; i < pins.size(); ++i) {
    for (const trace::PinSide& side : pins[i].at) {
      const int number = side.side == trace::kEitherSide ? -1 : static_cast<int>(side.side);
      text += fmt::format("arrive {} {} {} {} {} {} {} {} {} {}\n", place_of(stitch_of(side)), i,
                          number, side.visit, side.ignore_first, side.until ? 1 : 0, side.bound,
                          number_of(scope_of(side.within, ScopeKind::Function)),
                          number_of(scope_of(side.holding, ScopeKind::Lock)),
                          side.thread.empty() ? "-" : side.thread);
      if (side.until) text += fmt::format("end {} {}\n", place_of(end_of(side)), i);
    }
  }
  return text;
}

}  // namespace heddle::driver
