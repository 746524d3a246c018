// SPDX-License-Identifier: Apache-2.0
#include "driver/step_order.h"

#include <algorithm>

namespace heddle::driver {
namespace {

using trace::Step;
using trace::StepKind;

}  // namespace

void StepOrder::append(Step step, std::vector<Step>& to) const {
  const bool is_call = step.kind == StepKind::CallEnter || step.kind == StepKind::CallExit;
  if (step.kind == StepKind::Landed) return;
  if (is_call && !variant_.has(abi::Variant::Calls)) return;
  if (step.kind != StepKind::Branch) step.value = 0;
  to.push_back(step);
}

void StepOrder::leave_down_to(std::size_t depth, const Step& at, std::vector<Step>& to) {
  Regions& regions = open_[at.thread];
  for (; regions.size() > depth; regions.pop_back()) {
    const bool is_loop = regions.back().entry == StepKind::LoopEnter;
    append({is_loop ? StepKind::LoopExit : StepKind::CallExit, at.thread, regions.back().site,
            at.event, 0},
           to);
  }
}

void StepOrder::add(const Step& step, std::vector<Step>& to) {
  Regions& regions = open_[step.thread];
  // The number of regions up to and with the innermost one for which `is_wanted`; 0: none.
  const auto depth_of = [&regions](auto is_wanted) {
    std::size_t depth = regions.size();
    while (depth > 0 && !is_wanted(regions[depth - 1])) --depth;
    return depth;
  };
  const auto is_same = [&step](StepKind entry) {
    return [&step, entry](const Region& region) {
      return region.entry == entry && region.site == step.site;
    };
  };
  switch (step.kind) {
    case StepKind::LoopEnter:
    case StepKind::CallEnter: regions.push_back({step.kind, step.site, step.value}); break;
    // What is still open above was left by something that landed outside instrumented code.
    case StepKind::LoopIteration:
      if (const std::size_t depth = depth_of(is_same(StepKind::LoopEnter))) {
        leave_down_to(depth, step, to);
      }
      break;
    case StepKind::LoopExit:
    case StepKind::CallExit: {
      const bool is_loop = step.kind == StepKind::LoopExit;
      const std::size_t depth =
          depth_of(is_same(is_loop ? StepKind::LoopEnter : StepKind::CallEnter));
      if (depth == 0) break;
      leave_down_to(depth, step, to);
      regions.pop_back();
      break;
    }
    case StepKind::Landed: {
      const std::size_t frame = depth_of([&step](const Region& region) {
        return region.entry == StepKind::CallEnter && region.invocation == step.value;
      });
      if (frame == 0) break;
      // The first such loop from there: in a recursion, invocations that are over have it, too.
      const auto loop = std::find_if(regions.begin() + static_cast<std::ptrdiff_t>(frame),
                                     regions.end(), is_same(StepKind::LoopEnter));
      const auto depth = static_cast<std::size_t>(loop - regions.begin());
      leave_down_to(loop == regions.end() ? frame : depth + 1, step, to);
      break;
    }
    case StepKind::None:
    case StepKind::Block:
    case StepKind::Branch: break;
  }
  append(step, to);
}

}  // namespace heddle::driver
