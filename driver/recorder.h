// SPDX-License-Identifier: Apache-2.0
//
// Runs a program in parallel, writing down the order of what its threads do to each other, and
// turns such a recording into an ordinary run by enforcing that order under control.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/order/order.h"
#include "driver/explorer.h"
#include "driver/outcome.h"
#include "driver/program.h"
#include "driver/recording_file.h"
#include "driver/target.h"

namespace heddle::driver {

/// One parallel execution.
struct RecordedRun {
  /// Nothing: of a log that somebody else left, whose program may have been killed with its driver.
  std::optional<Ending> ending;
  bool failed() const { return !ending || ending->failed(); }
  analysis::Recording recording;
  Inputs inputs;                     // as given, and what the program was told besides
  std::vector<std::string> unknown;  // what it used that is not recorded, in words
  std::uint64_t log_bytes = 0;
  std::string standard_output;
  std::string standard_error;
  double seconds = 0;
};

class ParallelRecorder {
 public:
  /// `log` takes what happens, of one execution after the other. With `pauses` threads pause now
  /// and then, which changes their order.
  ParallelRecorder(const Program& program, const Inputs& inputs, const ExploreLimits& limits,
                   RecordingFile& log, bool pauses = false);
  RecordedRun record();

 private:
  const Program& program_;
  const Inputs& inputs_;
  const ExploreLimits& limits_;
  RecordingFile& log_;
  bool pauses_;
  std::uint64_t recordings_ = 0;
  Target target_;
};

/// What a log holds of a run with these inputs. `name` is for messages.
RecordedRun run_of(std::string_view log, std::string_view name, const Inputs& inputs);

/// Puts together what the program was told, and the files it read: for runs that are looked at
/// again.
void complete_inputs(RecordedRun& run);

/// The recorded order, enforced under control.
struct EnforcedRun {
  KeptRun run;
  std::string difference;  // from the recorded run, in words; empty: the same outcome came back
  std::uint64_t operations = 0;  // of the log, that the run begins with
  std::uint64_t left_out = 0;    // operations of the log that have no place in the order
};

EnforcedRun enforce(const Program& program, const ExploreLimits& limits, std::uint64_t max_events,
                    const RecordedRun& recorded);

}  // namespace heddle::driver
