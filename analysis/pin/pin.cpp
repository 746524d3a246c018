// SPDX-License-Identifier: Apache-2.0
#include "analysis/pin/pin.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace heddle::analysis {
namespace {

constexpr std::uint32_t kGlance = 4;             // runs that show whether a proposal is worth more
constexpr std::uint32_t kProbe = 24;             // runs that must all fail to settle for it
constexpr double kPauses[] = {200, 1000, 5000};  // ms; the paper's 100 ms to 10 s

trace::Pins with_pause(trace::Pins pins, double pause_ms) {
  for (trace::PinBreakpoint& breakpoint : pins) breakpoint.pause_ms = pause_ms;
  return pins;
}

/// Visits are those of a controlled run; loops that wait turn more or less often natively.
trace::Pins without_visits(trace::Pins pins) {
  for (trace::PinBreakpoint& breakpoint : pins) {
    for (trace::PinSide& side : breakpoint.at) side.visit = 0;
  }
  return pins;
}

class Chooser {
 public:
  Chooser(NativeOracle& oracle, const PinOptions& options, Pinning& pinning)
      : oracle_(oracle), options_(options), pinning_(pinning) {}

  bool is_over() const { return options_.stop && options_.stop(); }
  bool is_settled() const { return best_ && best_rate_ >= 1.0; }

  void consider(const PinProposal& proposal) {
    if (is_over() || is_settled()) return;
    if (options_.progress) {
      options_.progress(fmt::format("trying {} breakpoint{} from {}, {:.0f} ms",
                                    proposal.pins.size(), proposal.pins.size() == 1 ? "" : "s",
                                    proposal.origin, proposal.pins[0].pause_ms));
    }
    NativeRuns runs = oracle_.run(proposal.pins, kGlance);
    // A proposal that did better than any before gets the chance to show that it always does.
    if (runs.failures == runs.runs) runs += oracle_.run(proposal.pins, kProbe - kGlance);
    pinning_.tried.push_back({proposal.origin, proposal.pins.size(), proposal.pins[0].pause_ms,
                              runs.runs, runs.failures});
    const double rate = runs.runs == 0 ? 0 : static_cast<double>(runs.failures) / runs.runs;
    if (rate > best_rate_) {
      best_rate_ = rate;
      best_ = proposal;
    }
  }

  void leave_out_what_is_not_needed() {
    for (std::size_t i = 0; best_ && best_->pins.size() > 1 && i < best_->pins.size();) {
      PinProposal fewer = *best_;
      fewer.pins.erase(fewer.pins.begin() + static_cast<std::ptrdiff_t>(i));
      if (is_over()) return;
      const NativeRuns runs = oracle_.run(fewer.pins, kProbe);
      if (runs.failures < runs.runs) {
        ++i;
        continue;
      }
      best_ = std::move(fewer);
    }
  }

  const std::optional<PinProposal>& best() const { return best_; }

 private:
  NativeOracle& oracle_;
  const PinOptions& options_;
  Pinning& pinning_;
  std::optional<PinProposal> best_;
  double best_rate_ = 0;
};

}  // namespace

NativeRuns& operator+=(NativeRuns& sum, const NativeRuns& more) {
  sum.runs += more.runs;
  sum.failures += more.failures;
  sum.hits += more.hits;
  sum.failed_hits += more.failed_hits;
  sum.reached += more.reached;
  for (const auto& [what, count] : more.other_failures) sum.other_failures[what] += count;
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(sum.seconds_to_failure, more.seconds_to_failure);
  append(sum.seconds_of_others, more.seconds_of_others);
  return sum;
}

Pinning choose_pins(NativeOracle& oracle, std::span<const PinProposal> proposals,
                    const PinOptions& options) {
  Pinning pinning;
  Chooser chooser(oracle, options, pinning);
  for (const double pause : kPauses) {
    for (const PinProposal& proposal : proposals) {
      const PinProposal paused{proposal.origin, with_pause(proposal.pins, pause)};
      chooser.consider(paused);
      if (const trace::Pins every = without_visits(paused.pins); every != paused.pins) {
        chooser.consider({proposal.origin + ", every visit", every});
      }
    }
    // The next longer pause is for those that nearly always, but not always, meet.
    if (!chooser.best()) break;
  }
  chooser.leave_out_what_is_not_needed();
  if (options.progress) options.progress("measuring");
  if (chooser.best()) {
    pinning.origin = chooser.best()->origin;
    pinning.pins = chooser.best()->pins;
    pinning.with = oracle.run(pinning.pins, options.runs);
  }
  pinning.without = oracle.run({}, options.runs);
  return pinning;
}

}  // namespace heddle::analysis
