// SPDX-License-Identifier: Apache-2.0
//
// `heddle reduce RUN --input FILE`: a smaller input with which the program still fails so. What to
// try is left to an installed reducer of files (cvise, creduce); Heddle is its test: whether the
// failure of the run comes back with the file it is shown.
#pragma once

#include <string>

#include "base/error.h"

namespace heddle::cli {

struct InputReduction {
  std::string run = "latest";
  std::string file;     // as the run was given it: an argument, or its standard input
  std::string reducer;  // a program that is called with a test and a file
  std::string test;     // not empty: only say whether the failure comes back with this file
  std::string fails_if;
};

ExitCode reduce_input(const InputReduction& flags, bool json);

}  // namespace heddle::cli
