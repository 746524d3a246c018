// SPDX-License-Identifier: Apache-2.0
//
// One run of a program as the system schedules it: no runtime, no control.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "driver/target.h"
#include "trace/pins.h"

namespace heddle::driver {

struct NativeEnd {
  int status = 0;      // as wait(2) gives it
  bool stuck = false;  // every thread waited for ever, or the time was over; it was killed
  bool late = false;   // stuck because the time was over: it may wait for somebody outside
  double seconds = 0;  // until it ended, or was first seen stuck
  std::string standard_output;
  std::string standard_error;
};

/// `environment` is added to that of the inputs.
NativeEnd run_native(const std::filesystem::path& executable, const Inputs& inputs,
                     const std::vector<std::string>& environment, std::chrono::milliseconds limit);

/// Whether the run ended in the way the failure says, not merely badly; where it says nothing
/// (None), in any bad way; not by running on: it may only wait for somebody.
bool shows(const NativeEnd& end, const trace::PinnedFailure& failure);

/// "exit 3", "signal 11", "stuck", kStillRunning; empty if the run ended well.
std::string how_it_ended(const NativeEnd& end);
inline constexpr const char* kStillRunning = "still running when its time was over";

}  // namespace heddle::driver
