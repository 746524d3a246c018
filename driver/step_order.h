// SPDX-License-Identifier: Apache-2.0
//
// Makes the steps of a run complete. Exceptions and longjmp leave loops and functions without
// passing any code that could say so; where they end up, a `landed` step says which invocation and
// loop the thread is in, and everything entered since is over. Here those exits are put in, and
// what only served this purpose is taken out.
#pragma once

#include <map>
#include <vector>

#include "abi/variant.h"
#include "trace/trace.h"

namespace heddle::driver {

class StepOrder {
 public:
  /// `variant`: what was asked for.
  explicit StepOrder(abi::Variant variant) : variant_(variant) {}

  /// `step` as the runtime recorded it; appends what the trace shall hold.
  void add(const trace::Step& step, std::vector<trace::Step>& to);

 private:
  struct Region {
    trace::StepKind entry;
    trace::SiteIndex site;
    std::uint64_t invocation;  // of a function
  };
  using Regions = std::vector<Region>;

  void leave_down_to(std::size_t depth, const trace::Step& at, std::vector<trace::Step>& to);
  void append(trace::Step step, std::vector<trace::Step>& to) const;

  abi::Variant variant_;
  std::map<trace::ThreadId, Regions> open_;
};

}  // namespace heddle::driver
