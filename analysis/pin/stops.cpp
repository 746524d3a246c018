// SPDX-License-Identifier: Apache-2.0
#include "analysis/pin/stops.h"

#include "trace/words.h"

namespace heddle::analysis {
namespace {

using trace::EventKind;

/// Instructions that breakpoints can be put at: thread starts and ends, flushes and code of others
/// have no site of their own, and nobody wants one in a header of a library.
bool has_place(const trace::Site& site) {
  const trace::Frame* const frame = trace::source_frame(site);
  return frame != nullptr && !trace::is_system_header(frame->file) && !site.key.starts_with('<');
}

/// What a thread does when it comes back from a wait is at the place where it waits.
bool is_return(EventKind kind) {
  return kind == EventKind::CondWake || kind == EventKind::BarrierLeave ||
         kind == EventKind::FutexResume;
}
bool is_wait(EventKind kind) {
  return kind == EventKind::CondWait || kind == EventKind::BarrierWait ||
         kind == EventKind::FutexWait;
}

}  // namespace

Arrivals::Arrivals(const trace::Trace& trace) : trace_(trace), moments_(trace.events.size()) {
  std::map<trace::ThreadId, trace::SiteIndex> waits_at;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const trace::Event& event = trace.events[i];
    Moment moment;
    moment.is_arrival = event.site != trace::kNone && !is_return(event.kind);
    const auto wait = waits_at.find(event.thread);
    if (wait != waits_at.end() && event.kind == EventKind::MutexLock) {
      if (wait->second == event.site) moment.moment = trace::PinMoment::Woken;
      waits_at.erase(wait);
    }
    if (event.kind == EventKind::CondWait) waits_at[event.thread] = event.site;
    if (moment.is_arrival) moment.visit = ++counts_[key(event, moment.moment)];
    moments_[i] = moment;
  }
}

void Arrivals::describe(Stop& stop, std::size_t event) const {
  const Moment& moment = moments_[event];
  const bool is_often = counts_.at(key(trace_.events[event], moment.moment)) > 1;
  stop.moment = moment.moment;
  stop.visit = is_often ? moment.visit : 0;
  stop.is_wait = is_wait(trace_.events[event].kind);
}

trace::PinPlace place_of(const std::string& site, const trace::Frame& frame) {
  return {site, frame.file, frame.line, frame.function, {}};
}

std::optional<Stop> stop_at(const Accesses& accesses, const Arrivals& arrivals, std::size_t event) {
  const trace::Trace& trace = accesses.trace();
  if (event >= trace.events.size() || !arrivals.is_arrival(event)) return std::nullopt;
  const trace::Site& site = trace.sites[trace.events[event].site];
  if (!has_place(site)) return std::nullopt;
  Stop stop{trace.threads[trace.events[event].thread].path,
            place_of(site.key, *trace::source_frame(site)), 0, event};
  arrivals.describe(stop, event);
  return stop;
}

}  // namespace heddle::analysis
