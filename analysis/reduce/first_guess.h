// SPDX-License-Identifier: Apache-2.0
//
// A run without all threads and iterations that have nothing to do with the failure as far as its
// trace tells, in one trial: if the guess is right, all trials that follow are small. A wider one
// where it is not, unless that is not worth it (docs/decisions/0023-dependences-guess.md).
#pragma once

#include <optional>

#include "analysis/reduce/trials.h"

namespace heddle::analysis {

/// Nothing: no guess was right.
std::optional<Attempt> first_guess(const Attempt& original, Trials& trials);

}  // namespace heddle::analysis
