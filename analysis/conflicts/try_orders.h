// SPDX-License-Identifier: Apache-2.0
//
// Each conflict in both orders: the experiment of BTRIGGER's methodology II. Natively with a
// concurrent breakpoint, as the paper does it, and under control by steering the run in which the
// conflict was first seen.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "analysis/conflicts/conflict.h"
#include "analysis/conflicts/detect.h"
#include "analysis/oracle.h"

namespace heddle::analysis {

struct TrialOptions {
  std::uint32_t runs = 20;  // natively, of each order
  std::function<bool()> stop;
  std::function<void(std::string_view what)> progress;
};

/// Puts the breakpoints of both orders into each conflict: one order where its two places are the
/// same.
void propose_orders(std::span<Conflict> conflicts);

/// `schedules` by the runs' numbers. What the steered runs show is added to `detector`, and to
/// `failures` by signature.
void steer_orders(SteeringOracle& oracle, std::span<const trace::Schedule> schedules,
                  std::span<Conflict> conflicts, ConflictDetector& detector, Conflicts& account,
                  const TrialOptions& options);

/// Keeps `most` for the native trials, which cost far more than steering does: those that made the
/// program fail under control first, then by standing(). Chance decides which races a few runs show
/// side by side; what steering makes of each conflict does not depend on it.
void choose(Conflicts& conflicts, std::size_t most);

/// An order that is not always hit, or does not always fail, gets longer pauses and then only the
/// visits of the run in which the conflict was seen; what fails most often stays.
void try_orders(NativeOracle& oracle, Conflict& conflict, const NativeRuns& without,
                const TrialOptions& options);

/// Where no order alone makes the program fail, those that do under control get the other
/// conflicts' orders put before them, one at a time: a thread that looked too late never comes to
/// where the two would meet. What they need stays in OrderTrial::after.
void combine_orders(NativeOracle& oracle, std::span<Conflict> conflicts, const NativeRuns& without,
                    const TrialOptions& options);

/// What explains the failure first.
void rank(Conflicts& conflicts);

}  // namespace heddle::analysis
