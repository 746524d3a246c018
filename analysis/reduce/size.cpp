// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/size.h"

#include <algorithm>

#include "trace/counts.h"

namespace heddle::analysis {
namespace {

std::uint64_t running_threads(const Attempt& attempt) {
  return trace::program_threads(attempt.trace, attempt.schedule);
}

/// Where the iterations of loops begin and end says nothing that the program did.
bool is_done(const trace::Trace& trace, const trace::Event& event) {
  return (event.kind != trace::EventKind::IterationBegin &&
          event.kind != trace::EventKind::IterationEnd) ||
         event.site == trace::kNone || !trace::is_loop(trace.sites[event.site].key);
}

}  // namespace

std::uint64_t events_of(const trace::Trace& trace, std::uint64_t from) {
  const auto begin = trace.events.begin() +
                     static_cast<std::ptrdiff_t>(std::min<std::size_t>(from, trace.events.size()));
  return static_cast<std::uint64_t>(std::count_if(
      begin, trace.events.end(), [&](const trace::Event& event) { return is_done(trace, event); }));
}

std::int64_t events_in(const trace::Trace& trace, const LeftOut& iterations) {
  const std::vector<bool> missing = missing_events(trace, iterations);
  std::int64_t events = 0;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (missing[i] && is_done(trace, trace.events[i])) ++events;
  }
  return events;
}

Weight weight(const Attempt& attempt) {
  return {running_threads(attempt), trace::preemptions(attempt.schedule),
          trace::context_switches(attempt.trace), events_of(attempt.trace)};
}

Size size_of(const Attempt& attempt) {
  return {running_threads(attempt), events_of(attempt.trace),
          trace::context_switches(attempt.trace), trace::preemptions(attempt.schedule),
          attempt.seconds};
}

std::uint64_t events_executed(const Attempt& attempt) {
  return events_of(attempt.trace, attempt.had);
}

}  // namespace heddle::analysis
