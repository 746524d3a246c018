// SPDX-License-Identifier: Apache-2.0
#include "analysis/conflicts/try_orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trace/signature.h"
#include "trace/words.h"

namespace heddle::analysis {
namespace {

constexpr std::uint32_t kGlance = 4;             // runs that show whether an order ever comes about
constexpr double kPauses[] = {200, 1000, 5000};  // ms, as for pins

double rate(std::uint32_t count, std::uint32_t of) {
  return of == 0 ? 0 : static_cast<double>(count) / of;
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

/// Fisher's exact test, one-sided, at 1 %.
bool fails_more_often(const NativeRuns& with, const NativeRuns& without) {
  const double all = with.runs + without.runs;
  const double failures = with.failures + without.failures;
  double p = 0;
  for (double k = with.failures; k <= std::min<double>(with.runs, failures); ++k) {
    if (failures - k > without.runs) continue;
    p += std::exp(log_choose(with.runs, k) + log_choose(without.runs, failures - k) -
                  log_choose(all, failures));
  }
  return p < 0.01;
}

Effect effect_of(const NativeRuns& with, const NativeRuns& without) {
  if (with.runs == 0) return Effect::Untried;
  if (!fails_more_often(with, without)) {
    return 2 * with.hits < with.runs ? Effect::NotMet : Effect::Harmless;
  }
  if (2 * with.failed_hits < with.failures) return Effect::Elsewhere;
  constexpr double kNearlyAlways = 0.9;
  return rate(with.failed_hits, with.hits) >= kNearlyAlways ? Effect::Fails : Effect::Often;
}

trace::PinPlace place_of(const FoundAccess& access) {
  return {access.point.site, access.frame.file, access.frame.line, access.frame.function, {}};
}

trace::PinSide side_of(const FoundAccess& access, std::uint32_t number) {
  trace::PinSide side;
  side.side = number;
  side.at = place_of(access);
  if (access.role == kWokenRole) side.moment = trace::PinMoment::Woken;
  return side;
}

bool is_one_place(const FoundPair& pair) {
  return pair.first.point.site == pair.second.point.site && pair.first.role == pair.second.role;
}

trace::Pins pins_of(const FoundAccess& first, const FoundAccess& second) {
  trace::PinBreakpoint breakpoint;
  breakpoint.name = "conflict";
  trace::PinSide goes = side_of(first, 0);
  // Who waits has done his part when he waits, and who was woken when he has returned.
  if (first.role != "wait" && goes.moment == trace::PinMoment::Before) goes.until = goes.at;
  if (first.point.site == second.point.site && first.role == second.role) {
    goes.side = trace::kEitherSide;
    breakpoint.at = {goes};
  } else {
    breakpoint.at = {goes, side_of(second, 1)};
  }
  return {breakpoint};
}

trace::Pins with_pause(trace::Pins pins, double pause_ms) {
  pins[0].pause_ms = pause_ms;
  return pins;
}

/// Only where the run that showed the conflict had it.
trace::Pins at_visits(trace::Pins pins, const FoundAccess& first, const FoundAccess& second) {
  pins[0].at[0].visit = first.point.occurrence;
  if (pins[0].at.size() > 1) pins[0].at[1].visit = second.point.occurrence;
  return pins;
}

bool is_better(const NativeRuns& runs, const NativeRuns& than) {
  return std::pair(rate(runs.failed_hits, runs.runs), rate(runs.hits, runs.runs)) >
         std::pair(rate(than.failed_hits, than.runs), rate(than.hits, than.runs));
}

NativeRuns look(NativeOracle& oracle, const trace::Pins& pins, std::uint32_t runs) {
  NativeRuns seen = oracle.run(pins, std::min(runs, kGlance));
  const bool is_worth_more = seen.hits > 0 || seen.failures > 0;
  if (is_worth_more && runs > seen.runs) seen += oracle.run(pins, runs - seen.runs);
  return seen;
}

void try_order(NativeOracle& oracle, OrderTrial& order, const FoundAccess& first,
               const FoundAccess& second, const TrialOptions& options) {
  order.native = look(oracle, order.pins, options.runs);
  const trace::Pins plain = order.pins;
  const auto refine = [&](const trace::Pins& pins) {
    if (options.stop && options.stop()) return;
    const bool is_settled = order.native.failed_hits == order.native.runs;
    const bool is_hopeless = order.native.hits == 0 && order.native.failures == 0;
    // Always hit, never fails: longer pauses change nothing, other visits might.
    const bool is_harmless = order.native.hits == order.native.runs && order.native.failures == 0;
    const bool is_longer = pins[0].pause_ms > plain[0].pause_ms;
    if (is_settled || (is_longer && (is_hopeless || is_harmless))) return;
    if (NativeRuns runs = look(oracle, pins, options.runs); is_better(runs, order.native)) {
      order.native = std::move(runs);
      order.pins = pins;
    }
  };
  const bool fails_under_control = order.controlled_failures > 0;
  const trace::Pins visits = at_visits(plain, first, second);
  const bool is_repeated = first.point.occurrence > 1 || second.point.occurrence > 1;
  if (fails_under_control || is_repeated) refine(visits);
  for (const double pause : kPauses) {
    refine(with_pause(plain, pause));
    if (fails_under_control && is_repeated) refine(with_pause(visits, pause));
  }
}

/// An order that a breakpoint brings about by itself.
struct Met {
  const Conflict* conflict;
  trace::Pins pins;
  FoundPair pair;  // in this order
};

std::vector<Met> orders_that_meet(std::span<const Conflict> conflicts) {
  constexpr std::size_t kMost = 8;  // each costs as many runs as an order does
  std::vector<Met> result;
  for (const Conflict& conflict : conflicts) {
    for (const OrderTrial& order : conflict.orders) {
      if (result.size() == kMost) return result;
      if (2 * order.native.hits < order.native.runs || order.native.hits == 0) continue;
      result.push_back({&conflict, order.pins, conflict.pair});
      if (order.is_reversed) std::swap(result.back().pair.first, result.back().pair.second);
    }
  }
  return result;
}

/// What an order is worth for the explanation of a failure.
double weight(const OrderTrial& order) {
  switch (order.effect) {
    case Effect::Fails: return 4;
    case Effect::Often: return 3;
    case Effect::Elsewhere: return 2;
    case Effect::Harmless:
    case Effect::NotMet:
    case Effect::Untried: break;
  }
  return order.controlled_failures > 0 ? 1 : 0;
}

/// How well the two orders tell a run that fails from one that does not.
double explains(const Conflict& conflict) {
  double most = 0;
  double difference = 0;
  for (const OrderTrial& order : conflict.orders) {
    most = std::max(most, weight(order));
    for (const OrderTrial& other : conflict.orders) {
      const double natively = rate(order.native.failed_hits, order.native.runs) -
                              rate(other.native.failures, other.native.runs);
      const double controlled = rate(order.controlled_failures, order.controlled_runs) -
                                rate(other.controlled_failures, other.controlled_runs);
      difference = std::max(difference, 0.7 * natively + 0.25 * controlled);
    }
  }
  return most + difference;
}

/// Least first; those alike stay as they were.
template <typename Worth>
void sort_by(std::vector<Conflict>& conflicts, Worth worth) {
  std::vector<std::pair<std::invoke_result_t<Worth, const Conflict&>, std::size_t>> order;
  for (std::size_t i = 0; i < conflicts.size(); ++i) order.emplace_back(worth(conflicts[i]), i);
  std::ranges::sort(order);
  std::vector<Conflict> sorted;
  for (const auto& [value, i] : order) sorted.push_back(std::move(conflicts[i]));
  conflicts = std::move(sorted);
}

}  // namespace

void propose_orders(std::span<Conflict> conflicts) {
  for (Conflict& conflict : conflicts) {
    const FoundPair& pair = conflict.pair;
    conflict.orders.resize(is_one_place(pair) ? 1 : 2);
    conflict.orders[0].pins = pins_of(pair.first, pair.second);
    if (conflict.orders.size() == 1) continue;
    conflict.orders[1].is_reversed = true;
    conflict.orders[1].pins = pins_of(pair.second, pair.first);
  }
}

void steer_orders(SteeringOracle& oracle, std::span<const trace::Schedule> schedules,
                  std::span<Conflict> conflicts, ConflictDetector& detector, Conflicts& account,
                  const TrialOptions& options) {
  for (std::size_t i = 0; i < conflicts.size(); ++i) {
    Conflict& conflict = conflicts[i];
    if (options.progress) {
      options.progress(fmt::format("under control, conflict {} of {}", i + 1, conflicts.size()));
    }
    for (OrderTrial& order : conflict.orders) {
      if (options.stop && options.stop()) return;
      // The run it was seen in, and the one in which threads only switch where they must.
      trace::Schedule plain = schedules[conflict.witness];
      plain.decisions.clear();
      for (const trace::Schedule& schedule : {schedules[conflict.witness], plain}) {
        const Attempt attempt = oracle.steer(schedule, conflict.meeting[order.is_reversed ? 1 : 0]);
        detector.add(attempt.trace, conflict.witness);
        ++account.controlled_runs;
        ++order.controlled_runs;
        if (!attempt.trace.outcome.failed()) continue;
        ++order.controlled_failures;
        ++account.controlled_failures[trace::signature(attempt.trace)];
      }
    }
  }
}

void try_orders(NativeOracle& oracle, Conflict& conflict, const NativeRuns& without,
                const TrialOptions& options) {
  for (OrderTrial& order : conflict.orders) {
    if (options.stop && options.stop()) return;
    const FoundPair& pair = conflict.pair;
    if (options.progress) {
      const FoundAccess& first = order.is_reversed ? pair.second : pair.first;
      const FoundAccess& second = order.is_reversed ? pair.first : pair.second;
      options.progress(fmt::format("{}:{} before {}:{}", trace::base_name(first.frame.file),
                                   first.frame.line, trace::base_name(second.frame.file),
                                   second.frame.line));
    }
    try_order(oracle, order, order.is_reversed ? pair.second : pair.first,
              order.is_reversed ? pair.first : pair.second, options);
    order.effect = effect_of(order.native, without);
  }
}

void combine_orders(NativeOracle& oracle, std::span<Conflict> conflicts, const NativeRuns& without,
                    const TrialOptions& options) {
  const std::vector<Met> met = orders_that_meet(conflicts);
  const auto explained = [&] {
    return std::ranges::any_of(conflicts, [](const Conflict& conflict) {
      return std::ranges::any_of(
          conflict.orders, [](const OrderTrial& order) { return order.effect == Effect::Fails; });
    });
  };
  for (Conflict& conflict : conflicts) {
    for (OrderTrial& order : conflict.orders) {
      if (order.controlled_failures == 0) continue;
      const trace::Pins alone = order.pins;
      for (const Met& before : met) {
        if (explained() || (options.stop && options.stop())) return;
        if (before.conflict == &conflict) continue;
        if (options.progress) options.progress("two conflicts at once");
        trace::Pins pins = before.pins;
        pins[0].name = "conflict before";
        pins.insert(pins.end(), alone.begin(), alone.end());
        NativeRuns runs = look(oracle, pins, options.runs);
        if (!is_better(runs, order.native)) continue;
        order.native = std::move(runs);
        order.pins = std::move(pins);
        order.after = before.pair;
        order.effect = effect_of(order.native, without);
      }
    }
  }
}

void choose(Conflicts& conflicts, std::size_t most) {
  sort_by(conflicts.found, [](const Conflict& conflict) {
    return std::pair(-explains(conflict), standing(conflict));
  });
  if (conflicts.found.size() <= most) return;
  conflicts.left_out += conflicts.found.size() - most;
  conflicts.found.resize(most);
}

void rank(Conflicts& conflicts) {
  // Those that explain as much stay as they were: what is likelier to matter first.
  sort_by(conflicts.found, [](const Conflict& conflict) { return -explains(conflict); });
}

}  // namespace heddle::analysis
