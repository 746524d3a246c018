// SPDX-License-Identifier: Apache-2.0
//
// A run told on a terminal: what went wrong, the threads side by side, why. Renders only; what to
// type next is the caller's to add.
#pragma once

#include <string>
#include <vector>

#include "report/text/timeline.h"
#include "trace/trace.h"

namespace heddle::report {

struct StoryOptions {
  bool colour = false;
  bool unicode = false;
  std::size_t width = 100;
  std::size_t events = 60;  // about how many events are told; the rest is counted
  std::vector<bool> shown;  // by event, those that may be told; empty: all
  SourceLine source_line;   // where source text comes from; unset: from the files themselves
};

std::string story(const trace::Trace& trace, const StoryOptions& options = {});

}  // namespace heddle::report
