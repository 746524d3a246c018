// SPDX-License-Identifier: Apache-2.0
//
// `heddle replay RUN --gdb`: gdb with the run in it, stopped before its first event, and the
// commands of cli/gdb/heddle_gdb.py.
//
// gdb starts the program through `heddle debugged`, which gives it exactly what the run was
// recorded with (gdb itself would add to its environment) and lets it be the execution instead of a
// server of executions. So each `run` in gdb is the same execution again, at the same addresses.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace heddle::cli {

ExitCode debug_in_gdb(const std::string& run, const std::vector<std::string>& gdb_arguments);

}  // namespace heddle::cli
