// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/order_strategy.h"

namespace heddle::runtime {

void OrderStrategy::begin_run(const abi::Options&, Plan plan, ThreadFinder find) {
  plan_ = plan;
  find_ = find;
  position_ = 0;
  done_ = 0;
}

abi::ThreadIndex OrderStrategy::choose(const SchedulingPoint& point) {
  if (position_ == plan_.count) {
    return point.enabled.contains(point.current) ? point.current : point.enabled.nth(0);
  }
  const abi::PlanRecord& record = plan_.records[position_];
  const abi::ThreadIndex target = find_(record.thread);
  if (target == abi::kNoThread || !point.enabled.contains(target)) return abi::kNoThread;
  if (done_ == 0 && record.site != abi::kUnknownSite &&
      point.threads.pending_of(target).site != record.site) {
    return abi::kNoThread;
  }
  if (++done_ == record.occurrence) {
    ++position_;
    done_ = 0;
  }
  return target;
}

}  // namespace heddle::runtime
