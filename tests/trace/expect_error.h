// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace heddle::sample {

/// The message of the heddle::Error that `action` throws; fails the test when it does not throw
/// one with this exit code.
template <typename Action>
std::string error_of(Action action, ExitCode code = ExitCode::UserMistake) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was reported";
  return "";
}

}  // namespace heddle::sample
