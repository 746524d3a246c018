// SPDX-License-Identifier: Apache-2.0
//
// What race detectors print: the two accesses of each race, by their source lines.
#pragma once

#include <string>
#include <vector>

#include "trace/pins.h"

namespace heddle::analysis {

struct ReportedRace {
  std::vector<trace::PinPlace> one;  // innermost frame first; as much of each as is printed
  std::vector<trace::PinPlace> other;
};

/// The races of a report of ThreadSanitizer (Clang's or GCC's) or Helgrind, each once. Lock-order
/// reports and everything else in the text are passed over.
std::vector<ReportedRace> parse_race_report(const std::string& text);

}  // namespace heddle::analysis
