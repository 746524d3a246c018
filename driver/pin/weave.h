// SPDX-License-Identifier: Apache-2.0
//
// From breakpoints that name places to what is woven into one build of a program (abi/woven.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "abi/abi.h"
#include "ir/site_table.h"
#include "trace/pins.h"

namespace heddle::driver {

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
  /// What a thread is in while it is in a function, or has a lock. No sites: nothing.
  enum class ScopeKind : std::uint8_t { Function, Lock };
  struct Scope {
    ScopeKind kind = ScopeKind::Function;
    std::vector<abi::SiteId> sites;
    auto operator<=>(const Scope&) const = default;
  };
  Scope scope_of(const std::optional<trace::PinPlace>& place, ScopeKind kind) const;
  std::size_t number_of(const Scope& scope) const;
  void number(const Scope& scope);
  std::string weaving_of_scopes() const;
  std::size_t place_of(const Stitch& stitch) const { return places_.at(stitch); }

  const ir::SiteTable& sites_;
  std::map<Stitch, std::size_t> places_;
  std::map<Scope, std::size_t> scopes_;
};

}  // namespace heddle::driver
