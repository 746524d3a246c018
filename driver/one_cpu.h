// SPDX-License-Identifier: Apache-2.0
//
// A driver and its target take turns: one always waits for the other. On two CPUs each turn begins
// with an interrupt that wakes the other CPU up, which costs as much as a short execution does. So
// both stay on one, as long as executions are short; every now and then they are let go for one
// execution, so that the kernel can bring them to where there is room.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace heddle::driver {

class OneCpu {
 public:
  OneCpu() = default;
  ~OneCpu();
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;

  /// Called by the driving thread, always the same one, before an execution. `server` is the process
  /// that makes workers, `worker` the one that had the last execution.
  void begin(pid_t server, pid_t worker);
  void end();

  /// Gives the calling thread, or the process it has just become, all CPUs that heddle was given.
  static void leave();

 private:
  using Clock = std::chrono::steady_clock;

  bool short_ = false;  // the last execution was
  bool held_ = false;
  pid_t worker_ = 0;
  Clock::time_point begun_;
  Clock::time_point held_since_;
};

}  // namespace heddle::driver
