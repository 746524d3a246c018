// SPDX-License-Identifier: Apache-2.0
//
// A kept run, opened for an analysis that executes its program again: what reduce, locate and pin
// begin with.
#pragma once

#include <string>

#include "analysis/oracle.h"
#include "cli/terminal.h"
#include "driver/program.h"
#include "driver/target.h"
#include "store/store.h"

namespace heddle::cli {

struct KeptRun {
  store::RunSummary summary;
  driver::Inputs inputs;
  analysis::Attempt attempt;
  driver::Program program;
};

/// Throws a user error for a run that was judged by a predicate when none is given: `command` is
/// the one to type again. `variant`: as for Program::open.
KeptRun open_kept_run(const store::Store& store, const std::string& name,
                      const std::string& command, const std::string& fails_if,
                      ProgressLine& progress, abi::Variant variant = abi::Variant::Full);

}  // namespace heddle::cli
