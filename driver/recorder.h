// SPDX-License-Identifier: Apache-2.0
//
// Runs a program in parallel, writing down the order of what its threads do to each other, and
// turns such a recording into an ordinary run by enforcing that order under control.
#pragma once

#include <string>

#include "analysis/order/order.h"
#include "driver/explorer.h"
#include "driver/outcome.h"
#include "driver/program.h"
#include "driver/target.h"

namespace heddle::driver {

/// One parallel execution.
struct RecordedRun {
  Ending ending;
  analysis::Recording recording;
  Inputs inputs;  // as given, and what the program was told besides
  std::uint64_t log_bytes = 0;
  std::string standard_output;
  std::string standard_error;
  double seconds = 0;
};

class ParallelRecorder {
 public:
  ParallelRecorder(const Program& program, const Inputs& inputs, const ExploreLimits& limits,
                   std::uint64_t max_events);
  RecordedRun record();

 private:
  const Program& program_;
  const Inputs& inputs_;
  const ExploreLimits& limits_;
  std::uint64_t max_events_;
  Target target_;
};

/// The recorded order, enforced under control.
struct EnforcedRun {
  KeptRun run;
  std::string difference;  // from the recorded run, in words; empty: the same outcome came back
};

EnforcedRun enforce(const Program& program, const ExploreLimits& limits, std::uint64_t max_events,
                    const RecordedRun& recorded);

}  // namespace heddle::driver
