// SPDX-License-Identifier: Apache-2.0
#include "trace/signature.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <map>
#include <set>

#include "abi/names.h"
#include "trace/words.h"

namespace heddle::trace {
namespace {

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

bool place_of_site(const Trace& trace, SiteIndex site, Place& place) {
  if (const Frame* frame = source_frame(trace, site)) {
    place = {std::string(base_name(frame->file)), frame->line, frame->function};
    return true;
  }
  return false;
}

std::vector<Place> places_of_waits(const Trace& trace, const std::vector<Wait>& waits) {
  std::set<Place> places;
  for (const Wait& wait : waits) {
    Place place;
    if (place_of_site(trace, wait.site, place)) places.insert(std::move(place));
  }
  return {places.begin(), places.end()};
}

std::vector<Place> place_of_failure(const Trace& trace) {
  const Outcome& outcome = trace.outcome;
  Place place;
  // What the program itself says (an assertion's file and line) beats where it was last seen.
  if (!outcome.file.empty())
    place = {std::string(base_name(outcome.file)), outcome.line, outcome.function};
  else if (!place_of_site(trace, outcome.site, place))
    return {};
  return {place};
}

}  // namespace

std::vector<Wait> cycle_of(const std::vector<Wait>& waits) {
  std::map<ThreadId, const Wait*> next;
  for (const Wait& wait : waits)
    if (wait.holder != kNone) next.emplace(wait.thread, &wait);
  std::vector<Wait> cycle;
  for (const Wait& wait : waits) {
    // A thread is in a cycle when following the holders from it leads back to it; a walk longer
    // than the number of waits has entered somebody else's cycle.
    ThreadId at = wait.thread;
    for (std::size_t steps = 0; steps < waits.size(); ++steps) {
      auto found = next.find(at);
      if (found == next.end()) break;
      at = found->second->holder;
      if (at != wait.thread) continue;
      cycle.push_back(wait);
      break;
    }
  }
  return cycle.empty() ? waits : cycle;
}

Signature signature_of(const Trace& trace) {
  const Outcome& outcome = trace.outcome;
  Signature result{outcome.kind, "", {}};
  switch (outcome.kind) {
    case FailureKind::None: break;
    case FailureKind::Exit: result.detail = std::to_string(outcome.exit_code); break;
    case FailureKind::Deadlock:
      result.places = places_of_waits(trace, cycle_of(outcome.waits));
      break;
    case FailureKind::LostWakeup: result.places = places_of_waits(trace, outcome.waits); break;
    case FailureKind::Signal: result.detail = signal_name(outcome.signal); [[fallthrough]];
    default: result.places = place_of_failure(trace);
  }
  return result;
}

std::string to_text(const Signature& signature) {
  std::string out = abi::name_of(signature.kind);
  if (!signature.detail.empty()) out += " " + signature.detail;
  const char* separator = " ";
  for (const Place& place : signature.places) {
    out += fmt::format("{}{}:{}", separator, place.file, place.line);
    if (!place.function.empty()) out += fmt::format(" ({})", place.function);
    separator = ", ";
  }
  return out;
}

std::string signature(const Trace& trace) {
  return to_text(signature_of(trace));
}

}  // namespace heddle::trace
