// SPDX-License-Identifier: Apache-2.0
//
// Turns what an execution left in its channel into a trace and a schedule: numbers become names.
#pragma once

#include "analysis/oracle.h"
#include "driver/outcome.h"
#include "driver/program.h"
#include "driver/target.h"
#include "trace/schedule.h"
#include "trace/trace.h"

namespace heddle::driver {

trace::Trace build_trace(const Program& program, const Target& target, const Ending& ending);

trace::Schedule build_schedule(const Program& program, const Target& target, const Inputs& inputs);

/// What the schedule says it was made under. Throws a user error when there is no such model.
void set_memory_model(abi::Options& options, const trace::Schedule& schedule);

/// The instructions that make the runtime follow `schedule`. Throws a user error that names the
/// first place this build of the program does not have.
std::vector<abi::PlanRecord> make_plan(const Program& program, const trace::Schedule& schedule);

/// A thread's `occurrence`-th operation at a site, for plans that order operations.
abi::PlanRecord point_record(const Program& program, abi::DecisionKind kind,
                             const analysis::Point& point);

/// The beginning of a plan: these threads ("t0.2.1") are never started.
std::vector<abi::PlanRecord> absent_records(const std::vector<std::string>& threads);
/// The beginning of a plan: which threads and iterations of the schedule are left out.
std::vector<abi::PlanRecord> left_out_records(const Program& program,
                                              const trace::Schedule& schedule);

/// "t0.2.1" for each thread of the execution.
std::vector<std::string> thread_paths(const Channel& channel);

}  // namespace heddle::driver
