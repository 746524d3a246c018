// SPDX-License-Identifier: Apache-2.0
//
// What include/heddle/annotate.h calls, and the same for loops in the variant `repeats`. An
// iteration that the plan leaves out is not begun; the others leave an event at each end, so that a
// trace says what belonged to them. A recording leaves nothing out, and needs no such events: they
// are there when it has been brought under control.
#include "runtime/entry/entry.h"
#include "runtime/entry/hooks.h"

using namespace heddle;
using namespace heddle::runtime;

namespace {

/// `again`: 1 if the iteration before it was of the same loop, and the loop has not been left
/// since.
std::uint32_t begin_iteration(abi::SiteId site, std::uint32_t again) {
  const std::uint32_t iteration = session().begin_iteration(site);
  if (iteration == 0) return 0;
  session().record(operation_on(nullptr, abi::EventKind::IterationBegin, site), again, iteration,
                   session().current().children);
  return iteration;
}

void end_iteration(std::uint32_t iteration, abi::SiteId site) {
  session().record(operation_on(nullptr, abi::EventKind::IterationEnd, site), 0, iteration,
                   session().current().children);
}

}  // namespace

HEDDLE_ENTRY std::uint32_t __heddle_iteration_begin(const char*) noexcept {
  const Gate gate;
  if (!gate || !session().one_at_a_time()) return 1;
  return begin_iteration(call_site(), 0);
}

HEDDLE_ENTRY void __heddle_iteration_end(std::uint32_t iteration) noexcept {
  const Gate gate;
  if (!gate || !session().one_at_a_time()) return;
  end_iteration(iteration, call_site());
}

U32 __heddle_repeat_begin(U32 again, U32 site) {
  const Gate gate;
  if (!gate || !session().one_at_a_time()) return 1;
  return begin_iteration(site, again);
}

U32 __heddle_repeat_goes_on(U32 may_leave, U32 site) {
  const Gate gate;
  if (!gate || !session().one_at_a_time()) return static_cast<U32>(abi::GoesOn::NotKnown);
  return static_cast<U32>(session().goes_on(site, may_leave != 0));
}

/// 0: an exception that was thrown elsewhere is caught where those of the loop are.
void __heddle_repeat_end(U32 iteration, U32 site) {
  const Gate gate;
  if (!gate || iteration == 0 || !session().one_at_a_time()) return;
  end_iteration(iteration, site);
}
