// SPDX-License-Identifier: Apache-2.0
#include "analysis/pin/pin.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace heddle::analysis {
namespace {

constexpr std::uint32_t kGlance = 4;             // runs that show whether a proposal is worth more
constexpr std::uint32_t kProbe = 24;             // runs that must all fail to look more closely
constexpr std::uint32_t kConfirm = 100;          // runs that must all fail to settle for it
constexpr double kPauses[] = {200, 1000, 5000};  // ms; the paper's 100 ms to 10 s
constexpr double kExplains = 0.9;                // of the failing runs hit every breakpoint
constexpr std::size_t kMostPatient = 4;          // proposals that get the longer pauses

trace::Pins with_pause(trace::Pins pins, double pause_ms) {
  for (trace::PinBreakpoint& breakpoint : pins) breakpoint.pause_ms = pause_ms;
  return pins;
}

template <typename Change>
trace::Pins with_sides(trace::Pins pins, Change change) {
  for (trace::PinBreakpoint& breakpoint : pins) {
    for (trace::PinSide& side : breakpoint.at) change(breakpoint, side);
  }
  return pins;
}

trace::Pins for_anybody(trace::Pins pins) {
  return with_sides(std::move(pins),
                    [](const trace::PinBreakpoint&, trace::PinSide& side) { side.thread.clear(); });
}

/// More and less precise forms of one proposal, the simplest first.
std::vector<PinProposal> refinements(const PinProposal& proposal) {
  const trace::Pins anybody = for_anybody(proposal.pins);
  std::vector<PinProposal> forms = {{proposal.origin, anybody}};
  const auto add = [&](const char* how, trace::Pins pins) {
    for (const PinProposal& known : forms) {
      if (known.pins == pins) return;
    }
    forms.push_back({proposal.origin + how, std::move(pins)});
  };
  // Visits are those of a controlled run; loops that wait turn more or less often natively.
  add(", every visit", with_sides(anybody, [](const trace::PinBreakpoint&, trace::PinSide& side) {
        side.visit = 0;
      }));
  // Threads that run the same code, told apart by their births.
  add(", by thread", proposal.pins);
  // When the two have met, whoever else comes to where the second waits is held up there, too.
  add(", holding others",
      with_sides(anybody, [](const trace::PinBreakpoint& breakpoint, trace::PinSide& side) {
        const bool waits = side.side != 0 && side.side != trace::kEitherSide;
        if (waits) side.bound = breakpoint.bound + 1;
      }));
  // Only in the calling context, or with the lock, that the failed run had there.
  for (const RefinedPins& refined : proposal.refined) {
    add(refined.how.c_str(), for_anybody(with_pause(refined.pins, proposal.pins[0].pause_ms)));
  }
  return forms;
}

double share(std::uint32_t part, std::uint32_t runs) {
  return runs == 0 ? 0 : static_cast<double>(part) / runs;
}

/// How good a set of breakpoints is: it should fail always, and because threads meet at it.
struct Worth {
  double failing = 0;
  double meeting = 0;  // failed with every breakpoint hit
  auto operator<=>(const Worth&) const = default;
};

Worth worth_of(const NativeRuns& runs) {
  return {share(runs.failures, runs.runs), share(runs.failed_hits, runs.runs)};
}

class Chooser {
 public:
  Chooser(NativeOracle& oracle, const PinOptions& options, Pinning& pinning)
      : oracle_(oracle), options_(options), pinning_(pinning) {}

  bool is_over() const { return options_.stop && options_.stop(); }
  bool always_fails() const { return best_ && best_worth_.failing >= 1.0; }
  bool is_settled() const { return always_fails() && best_worth_.meeting >= kExplains; }

  /// What was considered before is not tried again.
  Worth consider(const PinProposal& proposal) {
    if (is_over() || is_settled()) return {};
    const std::pair<std::string, double> name(proposal.origin, proposal.pins[0].pause_ms);
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    if (options_.progress) {
      options_.progress(fmt::format("trying {} breakpoint{} from {}, {:.0f} ms",
                                    proposal.pins.size(), proposal.pins.size() == 1 ? "" : "s",
                                    proposal.origin, proposal.pins[0].pause_ms));
    }
    const NativeRuns runs = runs_until_one_passes(proposal.pins, best_worth_);
    pinning_.tried.push_back({proposal.origin, proposal.pins.size(), proposal.pins[0].pause_ms,
                              runs.runs, runs.failures, runs.hits});
    const Worth worth = worth_of(runs);
    known_[name] = worth;
    if (worth > best_worth_) {
      best_worth_ = worth;
      best_ = proposal;
    }
    return worth;
  }

  void leave_out_what_is_not_needed() {
    for (std::size_t i = 0; best_ && best_->pins.size() > 1 && i < best_->pins.size();) {
      PinProposal fewer = *best_;
      fewer.pins.erase(fewer.pins.begin() + static_cast<std::ptrdiff_t>(i));
      if (is_over()) return;
      const NativeRuns runs = runs_until_one_passes(fewer.pins, {});
      const bool explains_less = worth_of(runs).meeting < kExplains && is_settled();
      if (runs.failures < runs.runs || explains_less) {
        ++i;
        continue;
      }
      best_ = std::move(fewer);
    }
  }

  /// More runs showed that it was not as good as it looked.
  void forget_best() {
    best_.reset();
    best_worth_ = {};
  }

  const std::optional<PinProposal>& best() const { return best_; }

 private:
  /// Few runs where that is enough to see that not all fail, or that it is no better than what
  /// there is; else many.
  NativeRuns runs_until_one_passes(const trace::Pins& pins, Worth known) {
    NativeRuns runs;
    for (const std::uint32_t enough : {kGlance, kProbe, kConfirm}) {
      runs += oracle_.run(pins, enough - runs.runs);
      if (runs.failures < runs.runs || worth_of(runs) <= known || is_over()) break;
    }
    return runs;
  }

  NativeOracle& oracle_;
  const PinOptions& options_;
  Pinning& pinning_;
  std::optional<PinProposal> best_;
  Worth best_worth_;
  std::map<std::pair<std::string, double>, Worth> known_;  // by origin and pause
};

/// Those that made the program fail in some runs get more time to do so in all.
void grow_pauses(Chooser& chooser, std::vector<std::pair<Worth, PinProposal>> promising) {
  std::ranges::sort(promising, std::ranges::greater{}, &std::pair<Worth, PinProposal>::first);
  if (promising.size() > kMostPatient) promising.resize(kMostPatient);
  for (const double pause : kPauses) {
    for (const auto& [worth, proposal] : promising) {
      if (proposal.pins[0].pause_ms == pause) continue;
      chooser.consider({proposal.origin, with_pause(proposal.pins, pause)});
    }
  }
}

void search(Chooser& chooser, std::span<const PinProposal> proposals) {
  std::vector<std::pair<Worth, PinProposal>> promising;
  for (const PinProposal& proposal : proposals) {
    for (PinProposal& form :
         refinements({proposal.origin, with_pause(proposal.pins, kPauses[0]), proposal.refined})) {
      const Worth worth = chooser.consider(form);
      if (worth.failing > 0) promising.emplace_back(worth, std::move(form));
    }
  }
  if (!chooser.always_fails()) grow_pauses(chooser, std::move(promising));
}

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

bool Pinning::is_met() const {
  return with.failures > 0 && share(with.failed_hits, with.failures) >= kExplains;
}

Pinning choose_pins(NativeOracle& oracle, std::span<const PinProposal> proposals,
                    const PinOptions& options) {
  Pinning pinning;
  Chooser chooser(oracle, options, pinning);
  constexpr int kRounds = 3;  // of choosing and measuring, while the measurement disappoints
  for (int round = 0; round < kRounds; ++round) {
    search(chooser, proposals);
    chooser.leave_out_what_is_not_needed();
    if (!chooser.best()) break;
    if (options.progress) options.progress("measuring");
    NativeRuns measured = oracle.run(chooser.best()->pins, options.runs);
    const bool fails_always = measured.failures == measured.runs;
    if (pinning.pins.empty() || worth_of(measured) > worth_of(pinning.with)) {
      pinning.origin = chooser.best()->origin;
      pinning.pins = chooser.best()->pins;
      pinning.with = std::move(measured);
    }
    if (fails_always || chooser.is_over()) break;
    chooser.forget_best();
  }
  pinning.without = oracle.run({}, options.runs);
  return pinning;
}

}  // namespace heddle::analysis
