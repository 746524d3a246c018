// SPDX-License-Identifier: Apache-2.0
//
// The rows of a timeline in words, before anybody asks how wide they are.
#pragma once

#include <string>
#include <vector>

#include "report/text/style.h"
#include "report/text/timeline.h"
#include "trace/trace.h"

namespace heddle::report {

struct Entry {
  enum class Kind { Event, Gap, Ending } kind = Kind::Event;
  trace::ThreadId thread = trace::kNone;  // kNone: a gap over several threads
  std::size_t position = 0;               // index of the event
  std::string phrase;
  bool fails = false;
  std::string place;     // "counter.c:8"
  std::string function;  // without its parameters
  std::string source;
};

/// What a run's events, then its end, look like, in order.
std::vector<Entry> make_entries(const trace::Trace& trace, const TimelineOptions& options);

/// "release" for "release(Buffer*)".
std::string short_function(const std::string& function);

}  // namespace heddle::report
