// SPDX-License-Identifier: Apache-2.0
//
// Enforces a schedule and checks that what came back is what was recorded: every event with thread,
// site, object, offset, size and value, the outcome, standard output and error. Anything less is
// not "reproduced".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "driver/program.h"
#include "driver/target.h"
#include "trace/schedule.h"
#include "trace/trace.h"

namespace heddle::driver {

/// What a replay has to bring back.
struct Expectation {
  trace::Trace trace;
  trace::Schedule schedule;
  std::string standard_output;
  std::string standard_error;
};

struct ReplayResult {
  bool reproduced = false;
  std::uint64_t events = 0;
  double seconds = 0;
  std::string difference;  // what differs first, in words; empty if reproduced
  // As trace/course.h compares, so for other variants, too; empty if it took the same course.
  std::string course_difference;
};

/// What a run is replayed with: its own options as far as they matter, and the replay strategy.
abi::Options replay_options(const trace::Trace& trace, const trace::Schedule& schedule);

class Replayer {
 public:
  Replayer(const Program& program, const Inputs& inputs, const Expectation& expectation,
           const std::string& carrier = "fiber");
  ReplayResult replay();

  /// The way of the next replays through the program, behind so many events (abi/path_record.h).
  void record_path_from(std::uint64_t events) { target_.record_path_from(events); }
  /// Of the last one; nothing if there was no room for all of it.
  std::optional<std::string_view> path() const;

 private:
  const Program& program_;
  const Expectation& expectation_;
  std::vector<abi::PlanRecord> plan_;
  abi::Options options_;
  Target target_;
};

}  // namespace heddle::driver
