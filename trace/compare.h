// SPDX-License-Identifier: Apache-2.0
//
// Where two traces part: what replay reports when a run does not come back. Everything is compared
// by name (thread path, site key, object name), so the order of the tables does not matter.
#pragma once

#include <optional>
#include <string>

#include "trace/trace.h"

namespace heddle::trace {

struct Difference {
  std::optional<std::size_t> event;  // index of the first event that differs; none: after them all
  std::string field;                 // "thread", "kind", "site", "value", "outcome kind" ...
  std::string expected;
  std::string actual;
};

/// Events in their order first, then the outcome, then threads, objects and sites; programs and
/// options are not compared, for a rebuilt program may well do the same. Steps (and the sites only
/// steps name) are compared where both traces have them: they depend on the variant, not on the
/// run. Stacks are not compared.
std::optional<Difference> first_difference(const Trace& expected, const Trace& actual);

/// "event 12: other value: expected t0.1 load counter = 1 ... at counter.c:14:9 (worker); actual
/// ..."
std::string to_text(const Difference& difference);

}  // namespace heddle::trace
