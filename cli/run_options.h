// SPDX-License-Identifier: Apache-2.0
//
// The flags that say what to execute and how: the program with its arguments, and a flag for each
// row of abi/options.def.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "driver/explorer.h"
#include "driver/target.h"
#include "store/run.h"

namespace heddle::cli {

struct RunFlags {
  abi::Options options;
  std::string strategy = abi::Options{}.strategy;
  std::string memory_model = abi::Options{}.memory_model;
  std::string carrier = abi::Options{}.carrier;
  std::string reset = abi::Options{}.reset;
  std::string preempt_at = abi::Options{}.preempt_at;
  std::vector<std::string> command;  // program and arguments
  std::string standard_input_file;
  double timeout_seconds = 10;
  std::string fails_if;
  bool check_determinism = false;
  bool audit = false;
};

/// Declares all of them. HEDDLE_OPTIONS is read first, so that flags have the last word.
void add_run_flags(CLI::App& command, RunFlags& flags);

/// Those of them that say what to execute, and how it is judged.
void add_program_flags(CLI::App& command, RunFlags& flags);

abi::Options options_of(const RunFlags& flags);
/// The program in the variant that the flags ask for, besides what `variant` already is.
driver::Program open_program(const RunFlags& flags, const driver::Progress& progress,
                             abi::Variant variant = abi::Variant::Full);
driver::Inputs inputs_of(const RunFlags& flags);
driver::ExploreLimits limits_of(const RunFlags& flags);

store::RunInputs to_stored(const driver::Inputs& inputs);
driver::Inputs from_stored(const store::RunInputs& inputs);
/// The program of a kept run, as it is found from here: a relative path was given elsewhere, and so
/// may have been the libraries'.
driver::StartedProgram program_of(const driver::Inputs& inputs);

}  // namespace heddle::cli
