// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/experiment.h"

#include <algorithm>
#include <utility>

namespace heddle::analysis {
namespace {

/// Orders kept in a forbidding execution: more would not fit a plan, and older ones matter less.
constexpr std::size_t kMaxKeptOrders = 20'000;

/// A critical section of each side under one lock: waiting inside the one while the other waits for
/// the lock would be a deadlock, so the wait has to be before it.
struct CommonSection {
  Section of_first;
  Section of_second;
};

std::optional<CommonSection> common_section(const Accesses& accesses, std::size_t first,
                                            std::size_t second) {
  for (const Section& x : accesses.sections(first)) {
    for (const Section& y : accesses.sections(second)) {
      if (x.lock == y.lock && x.offset == y.offset) return CommonSection{x, y};
    }
  }
  return std::nullopt;
}

/// Where a thread may be made to wait after `point` without keeping others from a lock.
std::optional<Point> next_outside_sections(const Observed& run, const Point& point) {
  const auto event = run.accesses.find(point);
  if (!event) return std::nullopt;
  auto next = run.accesses.next_of_thread(*event);
  while (next && !run.accesses.sections(*next).empty()) next = run.accesses.next_of_thread(*next);
  if (!next) return std::nullopt;
  return run.accesses.point(*next);
}

/// The events of a pair in an execution that has both, or nothing.
struct Located {
  const Observed* in = nullptr;
  std::size_t first = 0;
  std::size_t second = 0;
};

std::optional<Located> locate_in(const Observed& run, const PairPoints& pair) {
  const auto first = run.accesses.find(pair.first);
  const auto second = run.accesses.find(pair.second);
  if (!first || !second) return std::nullopt;
  return Located{&run, *first, *second};
}

}  // namespace

Observed::Observed(Attempt made)
    : attempt(std::move(made)), accesses(attempt.trace), instances(immediate_pairs(accesses)) {}

Experiments::Experiments(SteeringOracle& oracle, const Observed& failed,
                         std::function<void(Attempt&&)> on_attempt)
    : oracle_(oracle),
      failed_(failed),
      signature_(trace::signature(failed.attempt.trace)),
      on_attempt_(std::move(on_attempt)) {
  for (const PairInstance& pair : failed.instances) {
    const auto common = common_section(failed.accesses, pair.first, pair.second);
    kept_orders_.push_back(
        {failed.accesses.point(pair.first),
         failed.accesses.point(common ? common->of_second.acquired : pair.second)});
  }
}

Observed Experiments::steer(const trace::Schedule& schedule, const std::vector<Order>& orders) {
  ++executions_;
  return Observed(oracle_.steer(schedule, orders));
}

Verdict Experiments::forbid(const PairPoints& pair) {
  const Accesses& accesses = failed_.accesses;
  const auto first = accesses.find(pair.first);
  if (!first) return Verdict::Impossible;
  // When the run ended before the second access, nothing of its thread stands against it.
  const auto second = accesses.find(pair.second);
  const std::size_t end = failed_.attempt.trace.events.size();
  std::size_t hold = *first;
  std::size_t section_end = second.value_or(end);
  if (second) {
    if (const auto common = common_section(accesses, *first, *second)) {
      hold = common->of_first.acquired;
      section_end = common->of_second.released;
    }
  }
  const Verdict verdict = forbid_from(pair, hold, second.value_or(end), section_end);
  if (verdict != Verdict::Impossible) return verdict;
  const std::vector<Section> outer = accesses.sections(*first);
  if (outer.empty() || outer.front().acquired >= hold) return verdict;
  return forbid_from(pair, outer.front().acquired, second.value_or(end), section_end);
}

Verdict Experiments::forbid_from(const PairPoints& pair, std::size_t hold, std::size_t until,
                                 std::size_t section_end) {
  const Accesses& accesses = failed_.accesses;
  const bool has_second = until < failed_.attempt.trace.events.size();
  const trace::ThreadId holder = accesses.owner(hold);
  std::vector<Order> orders{{pair.second, accesses.point(hold)}};
  const std::size_t from =
      failed_.instances.size() - std::min(failed_.instances.size(), kMaxKeptOrders);
  for (std::size_t i = from; i < failed_.instances.size(); ++i) {
    const PairInstance& kept = failed_.instances[i];
    const bool of_holder = accesses.owner(kept.first) == holder && kept.first >= hold;
    const bool to_other =
        has_second
            ? accesses.owner(kept.second) == accesses.owner(until) && kept.second <= section_end
            : failed_.attempt.trace.threads[accesses.owner(kept.second)].path == pair.second.thread;
    if (of_holder && to_other) continue;  // turning the pair round turns these round as well
    orders.push_back(kept_orders_[i]);
  }
  Observed result = steer(failed_.attempt.schedule, orders);
  const auto first = result.accesses.find(pair.first);
  const auto second = result.accesses.find(pair.second);
  const bool turned = !first || (second && *second < *first);
  const bool passed = !result.attempt.trace.outcome.failed();
  on_attempt_(std::move(result.attempt));
  if (!turned) return Verdict::Impossible;
  return passed ? Verdict::Holds : Verdict::Refuted;
}

Verdict Experiments::enforce(const std::vector<PairPoints>& pairs, const Observed& base,
                             const Observed& origin) {
  std::vector<Order> orders;
  std::vector<Order> immediate;
  for (const PairPoints& pair : pairs) {
    auto located = locate_in(origin, pair);
    if (!located) located = locate_in(failed_, pair);
    if (!located) located = locate_in(base, pair);
    if (!located) {
      orders.push_back({pair.first, pair.second});
      continue;
    }
    const Accesses& accesses = located->in->accesses;
    const auto common = common_section(accesses, located->first, located->second);
    orders.push_back(
        {pair.first, common ? accesses.point(common->of_second.acquired) : pair.second});
    // The dependence is to be an immediate one: the first thread waits in its turn. What it would
    // do next, the failing run may not have come to.
    std::optional<Point> next = next_outside_sections(base, pair.first);
    if (!next) next = next_outside_sections(*located->in, pair.first);
    if (next) immediate.push_back({pair.second, *next});
  }
  orders.insert(orders.end(), immediate.begin(), immediate.end());
  Observed result = steer(base.attempt.schedule, orders);
  bool forced = true;
  for (const PairPoints& pair : pairs) {
    const auto first = result.accesses.find(pair.first);
    const auto second = result.accesses.find(pair.second);
    forced = forced && first && second &&
             std::find(result.instances.begin(), result.instances.end(),
                       PairInstance{*first, *second}) != result.instances.end();
  }
  const bool same = trace::signature(result.attempt.trace) == signature_;
  on_attempt_(std::move(result.attempt));
  if (same) return Verdict::Holds;
  return forced ? Verdict::Refuted : Verdict::Impossible;
}

bool Experiments::passes_with(const Order& order,
                              const std::function<bool(const Observed&)>& wanted) {
  // Who waits inside a critical section may keep the other from getting there.
  Order outside = order;
  if (const auto held = failed_.accesses.find(order.second)) {
    const std::vector<Section> sections = failed_.accesses.sections(*held);
    if (!sections.empty()) outside.second = failed_.accesses.point(sections.front().acquired);
  }
  trace::Schedule schedule = failed_.attempt.schedule;
  for (const bool preemptions : {true, false}) {
    if (!preemptions) schedule.decisions.clear();
    Observed result = steer(schedule, {outside});
    const bool found = !result.attempt.trace.outcome.failed() && wanted(result);
    on_attempt_(std::move(result.attempt));
    if (found) return true;
  }
  return false;
}

}  // namespace heddle::analysis
