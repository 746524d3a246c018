// SPDX-License-Identifier: Apache-2.0
//
// Errors of Heddle's own processes. A message says what happened and what to type next; whose turn
// it is decides the exit code. Thrown where noticed, caught once, in cli/main.cpp.
#pragma once

#include <stdexcept>
#include <string>

namespace heddle {

/// Exit codes of every command; docs/exit-codes.md explains them to users.
enum class ExitCode : int {
  Done = 0,
  ProgramFailed = 1,  // or, for replay: the recorded outcome did not come back
  UserMistake = 2,
  Environment = 3,
  Defect = 4,
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Bad arguments, bad input files: the user can put it right.
inline Error user_error(const std::string& message) {
  return {ExitCode::UserMistake, message};
}
/// Missing tools, full disks, forbidden system calls: the machine is in the way.
inline Error environment_error(const std::string& message) {
  return {ExitCode::Environment, message};
}
/// An invariant of Heddle does not hold.
inline Error defect(const std::string& message) {
  return {ExitCode::Defect, message};
}

}  // namespace heddle
