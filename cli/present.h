// SPDX-License-Identifier: Apache-2.0
//
// What several commands say in the same words.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "store/run.h"
#include "trace/trace.h"

namespace heddle::cli {

/// The failure told as a story, for the terminal at hand; `shown`: which events may be told, by
/// event (empty: all).
std::string story_text(const trace::Trace& trace, const Terminal& terminal,
                       const std::vector<bool>& shown = {});

/// "Type next" lines after a finding. A run that `reduce` made is as small as it gets.
void print_next(const std::string& run, bool is_reduced);
bool is_reduced(const store::RunSummary& run);

/// A schedule that was repeated and gave another run.
void print_leak(std::uint64_t schedule, const std::string& difference);

/// A row in words: how large the run was.
std::string size_text(const store::RunSummary& run);

}  // namespace heddle::cli
