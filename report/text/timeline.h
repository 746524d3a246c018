// SPDX-License-Identifier: Apache-2.0
//
// The middle of a story: time runs down, each thread has a lane, each row is one event.
//
// With few threads a lane is wide enough for what its thread does, and the margin holds the source:
//
//      t0 main        t0.1 worker          t0.2 worker
//    4 |              * reads counter = 0  |                    counter.c:8  int seen = counter;
//      |              `------------------->|
//    6 |              |                    * reads counter = 0  counter.c:8  int seen = counter;
//
// With many, or on a narrow terminal, lanes are only lines and the words stand beside them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/text/style.h"
#include "trace/trace.h"

namespace heddle::report {

/// The text of a line of a source file; empty when it is not at hand.
using SourceLine = std::function<std::string(const std::string& file, std::uint32_t line)>;

struct TimelineOptions {
  Style style;
  std::size_t width = 100;
  std::size_t events = 60;  // about how many events are told
  SourceLine source_line;
  std::vector<bool> shown = {};  // by event; empty: all
};

std::string timeline(const trace::Trace& trace, const TimelineOptions& options);

}  // namespace heddle::report
