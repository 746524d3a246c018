// SPDX-License-Identifier: Apache-2.0
//
// What include/heddle/annotate.h calls. An iteration that the plan leaves out is not begun; the
// others leave an event at each end, so that a trace says what belonged to them. A recording leaves
// nothing out, and needs no such events: they are there when it has been brought under control.
#include "runtime/entry/entry.h"

using namespace heddle;
using namespace heddle::runtime;

HEDDLE_ENTRY std::uint32_t __heddle_iteration_begin(const char*) noexcept {
  const Gate gate;
  if (!gate || !session().one_at_a_time()) return 1;
  const abi::SiteId site = call_site();
  const std::uint32_t iteration = session().begin_iteration(site);
  if (iteration == 0) return 0;
  session().record(operation_on(nullptr, abi::EventKind::IterationBegin, site), 0, iteration);
  return iteration;
}

HEDDLE_ENTRY void __heddle_iteration_end(std::uint32_t iteration) noexcept {
  const Gate gate;
  if (!gate || !session().one_at_a_time()) return;
  session().record(operation_on(nullptr, abi::EventKind::IterationEnd, call_site()), 0, iteration);
}
