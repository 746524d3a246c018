// SPDX-License-Identifier: Apache-2.0
//
// What makes two failures the same bug: the kind and the places, nothing that differs between two
// runs into it (thread names, values, counts). signature() of trace.h is this as text.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace heddle::trace {

struct Place {
  std::string file;  // without its directories, so that a copy of the tree gives the same signature
  std::uint32_t line = 0;
  std::string function;
  auto operator<=>(const Place&) const = default;
};

struct Signature {
  FailureKind kind = FailureKind::None;
  std::string detail;  // the signal's name, the exit status; empty otherwise
  std::vector<Place>
      places;  // sorted; of a deadlock's cycle, a lost wake-up's waits, else at most 1
  bool operator==(const Signature&) const = default;
};

Signature signature_of(const Trace& trace);
/// "assert counter.c:14 (worker)", "deadlock bank.c:20 (pay), bank.c:31 (refund)", "exit 3".
std::string to_text(const Signature& signature);

/// The waits that form a cycle; all of them when the trace does not say who holds what.
std::vector<Wait> cycle_of(const std::vector<Wait>& waits);

}  // namespace heddle::trace
