// SPDX-License-Identifier: Apache-2.0
//
// Whether the same plan gives the same run again. It does unless something reached the program that
// Heddle does not control: a clock, a random number, a file that an earlier execution changed.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "driver/outcome.h"
#include "driver/program.h"
#include "driver/target.h"

namespace heddle::driver {

/// Repeats the execution that `target` holds, which ended as `ending`. Where the two part first, in
/// words; nothing if they do not. `target` holds the repetition afterwards.
std::optional<std::string> find_leak(const Program& program, Target& target,
                                     const abi::Options& options,
                                     std::span<const abi::PlanRecord> plan, const Ending& ending);

}  // namespace heddle::driver
