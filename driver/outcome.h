// SPDX-License-Identifier: Apache-2.0
//
// How an execution ended, from everything that is known of it: what the runtime wrote down, what
// the kernel says, what the program printed.
#pragma once

#include <string>

#include "driver/target.h"
#include "trace/trace.h"

namespace heddle::driver {

/// The part that does not need names resolved: enough to decide whether it failed, and how.
struct Ending {
  abi::FailureKind kind = abi::FailureKind::None;
  int exit_code = 0;
  int signal = 0;
  std::string message;
  bool failed() const { return kind != abi::FailureKind::None; }
};

Ending classify(const Target& target, const Execution& execution);

/// What a predicate may ask about.
struct Said {
  int exit_code = 0;
  std::string standard_output;
  std::string standard_error;
};

/// Runs a shell command with HEDDLE_EXIT, HEDDLE_STDOUT and HEDDLE_STDERR (files) set; true when it
/// exits with 0. Throws a user error when the shell cannot run it.
bool predicate_holds(const std::string& command, const Said& said);
bool predicate_holds(const std::string& command, const Target& target, const Ending& ending);

}  // namespace heddle::driver
