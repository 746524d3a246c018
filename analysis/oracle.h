// SPDX-License-Identifier: Apache-2.0
//
// How an analysis gets another execution of the program it thinks about. The driver implements it
// with the program; tests with a toy.
#pragma once

#include <string>

#include "trace/schedule.h"
#include "trace/trace.h"

namespace heddle::analysis {

/// One execution: what it did, and the schedule that does exactly that again.
struct Attempt {
  trace::Trace trace;
  trace::Schedule schedule;
  std::string standard_output;
  std::string standard_error;
  double seconds = 0;
};

class Oracle {
 public:
  virtual ~Oracle() = default;
  /// Executes the program and takes each decision of `schedule` whose point is reached, in whatever
  /// order they are. Where it says nothing the running thread goes on, else the eldest that can.
  virtual Attempt follow(const trace::Schedule& schedule) = 0;
};

}  // namespace heddle::analysis
