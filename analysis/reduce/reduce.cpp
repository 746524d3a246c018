// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/reduce.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/reduce/account.h"
#include "analysis/reduce/common.h"
#include "analysis/reduce/ddmin.h"
#include "analysis/reduce/first_guess.h"
#include "analysis/reduce/one_preemption.h"
#include "analysis/reduce/projection.h"
#include "analysis/reduce/relevance.h"
#include "analysis/reduce/siblings.h"
#include "analysis/reduce/size.h"
#include "analysis/reduce/smaller_programs.h"
#include "analysis/reduce/trials.h"
#include "base/error.h"
#include "trace/counts.h"

namespace heddle::analysis {
namespace {

using trace::Decision;
using trace::Schedule;

class Reducer {
 public:
  /// `original` has just been executed.
  Reducer(ReducingOracle& oracle, const Attempt& original, const ReduceOptions& options)
      : original_(original),
        iterations_(iterations_of(original.trace)),
        slice_(options.slice),
        trials_(oracle, original, options, result_),
        account_(original) {
    std::sort(iterations_.begin(), iterations_.end());
    result_.best = original;
    result_.before = result_.after = size_of(original);
    result_.trials = 1;
    result_.events_executed = events_of(original.trace);
  }

  Reduction run() {
    part(result_.guess, [this] { guess(); });
    // What one part removes may make more removable by another.
    for (bool smaller = true; smaller && !trials_.stopping();) {
      const auto before = weight(result_.best);
      ++result_.rounds;
      part(result_.threads, [this] { asking_rightly([this] { reduce_threads(); }); });
      part(result_.iterations, [this] { asking_rightly([this] { reduce_iterations(); }); });
      part(result_.switches, [this] { reduce_switches(); });
      smaller = weight(result_.best) < before;
      if (smaller) continue;
      part(result_.other_schedules, [&] { smaller = find_smaller_elsewhere(); });
    }
    trials_.confirm(result_.best);
    part(result_.slice, [this] { overlook(); });
    for (const std::string& thread : result_.best.schedule.absent_threads) {
      const auto& before = original_.schedule.absent_threads;
      if (std::find(before.begin(), before.end(), thread) == before.end()) {
        result_.removed_threads.push_back(thread);
      }
    }
    result_.after = size_of(result_.best);
    result_.account = account_.entries(result_.best);
    return std::move(result_);
  }

 private:
  template <typename Work>
  void part(Share& share, Work work) {
    const std::uint64_t trials = result_.trials;
    const std::uint64_t executed = result_.events_executed;
    const std::uint64_t events = events_of(result_.best.trace);
    work();
    share.trials += result_.trials - trials;
    share.events_executed += result_.events_executed - executed;
    const std::uint64_t left = events_of(result_.best.trace);
    share.events_removed += events > left ? events - left : 0;
  }

  /// Again, where (II) was asked in an order in which not even the best run so far passes.
  template <typename Work>
  void asking_rightly(Work work) {
    do work();
    while (trials_.revise(result_.best));
  }

  /// Delta debugging of `items`, each of which `leave_out` adds to what a run is without; the best
  /// run of what is kept becomes the best. (II) is asked of the outcome first: most often it holds,
  /// and asking it at each step costs more than all else. Where it does not, it is gone through
  /// again, asking; and for the rest of the part at once, as what is missed is missed elsewhere
  /// too.
  template <typename Item, typename LeaveOutItem>
  void remove_items(const char* phase, const std::vector<Item>& items, LeaveOutItem leave_out,
                    std::size_t give_up_at = ~std::size_t{0}) {
    if (items.empty()) return;
    const Attempt base = result_.best;
    if (!asks_each_step_) {
      remove_items(phase, base, items, leave_out, give_up_at);
      const bool same = result_.best.schedule.absent_threads == base.schedule.absent_threads &&
                        result_.best.schedule.skipped == base.schedule.skipped;
      if (same || trials_.is_concurrent(result_.best)) return;
      asks_each_step_ = true;
      result_.best = base;
    }
    remove_items(phase, base, items, leave_out, give_up_at);
  }

  template <typename Item, typename LeaveOutItem>
  void remove_items(const char* phase, const Attempt& base, const std::vector<Item>& items,
                    LeaveOutItem leave_out, std::size_t give_up_at) {
    const LeftOut already = already_left_out(base.schedule);
    const auto all_but = [&](const std::vector<Item>& kept) {
      LeftOut left_out = already;
      for (const Item& item : items) {
        if (std::find(kept.begin(), kept.end(), item) == kept.end()) leave_out(left_out, item);
      }
      std::sort(left_out.iterations.begin(), left_out.iterations.end());
      return left_out;
    };
    Siblings siblings(base, where_most_part(base, already, items));
    std::vector<Item> current = items;
    ddmin<Item>(
        items,
        [&](const Candidates<Item>& candidates) -> std::optional<std::size_t> {
          if (trials_.stopping()) return std::nullopt;
          trials_.report(phase, result_.best);
          for (std::size_t i = 0; i < candidates.size() && !gives_up();) {
            std::vector<LeftOut> left_out;
            for (std::size_t j = i; j < candidates.size() && j < i + trials_.at_once(); ++j) {
              left_out.push_back(all_but(candidates[j]));
            }
            for (Judged& one : judge_without(left_out, siblings)) {
              if (one.verdict == Verdict::Accepted) {
                current = candidates[i];
                result_.best = std::move(one.attempt);
                return i;
              }
              note_needed(current, candidates[i], one);
              ++i;
            }
          }
          return std::nullopt;
        },
        [&](std::size_t parts, bool of_all) {
          return gives_up() || (of_all && parts >= give_up_at);
        });
  }

  /// What comes of leaving out each of these, up to the first that is accepted.
  std::vector<Judged> judge_without(const std::vector<LeftOut>& left_out, Siblings& siblings) {
    std::vector<Siblings::Sibling> made;
    std::vector<BoundedSchedule> schedules;
    for (const LeftOut& one : left_out) {
      made.push_back(siblings.without(one));
      const auto& [projected, common] = made.back();
      schedules.push_back(trials_.bounded(projected.schedule, projected.events, common));
    }
    owed_ = 0;
    const std::uint64_t executed = result_.events_executed;
    std::vector<Judged> judged =
        asks_each_step_ ? trials_.judge(schedules) : trials_.judge_failure(schedules);
    in_vain_ += result_.events_executed - executed;
    for (std::size_t i = 0; i < judged.size(); ++i) {
      siblings.executed(made[i], judged[i].number);
      if (judged[i].verdict == Verdict::Accepted) in_vain_ = 0;
    }
    return judged;
  }

  /// Of what is kept in the end it is known why nothing alone could go.
  template <typename Item>
  void note_needed(const std::vector<Item>& current, const std::vector<Item>& without_one,
                   const Judged& judged) {
    if (without_one.size() + 1 != current.size()) return;
    const auto differs =
        std::mismatch(without_one.begin(), without_one.end(), current.begin(), current.end());
    account_.keep(*differs.second, judged.verdict, judged.signature);
  }

  static std::uint64_t where_most_part(const Attempt& base, const LeftOut& already,
                                       const std::vector<std::string>& threads) {
    return behind_longest_in_common(base, already, threads);
  }
  static std::uint64_t where_most_part(const Attempt&, const LeftOut&,
                                       const std::vector<Iteration>&) {
    return 0;  // there are too many
  }

  /// Whether enough has been tried for nothing.
  bool gives_up() { return trials_.stopping() || (owed_ == 0 && in_vain_ >= may_be_in_vain_); }

  /// With what the original run tells of the iterations.
  LeftOut already_left_out(const Schedule& schedule) const {
    LeftOut result = left_out_of(schedule);
    for (Iteration& iteration : result.iterations) {
      const auto known = std::lower_bound(iterations_.begin(), iterations_.end(), iteration);
      if (known != iterations_.end() && *known == iteration) iteration.again = known->again;
    }
    return result;
  }

  BoundedSchedule projected(const Attempt& run, const LeftOut& left_out) const {
    Projected projected = project(run, left_out);
    return trials_.bounded(std::move(projected.schedule), projected.events);
  }

  BoundedSchedule as_long_as_best(Schedule schedule) const {
    const Common common = in_common(result_.best, schedule.decisions);
    return trials_.bounded(std::move(schedule), result_.best.trace.events.size(), common);
  }

  void guess() {
    if (std::optional<Attempt> guessed = first_guess(original_, trials_)) {
      result_.best = std::move(*guessed);
    }
  }

  /// Algorithm 1: level by level from the eldest, a thread together with its descendants.
  void reduce_threads() {
    asks_each_step_ = false;
    may_be_in_vain_ = kAnyNumber;
    for (std::size_t level = 1; !trials_.stopping(); ++level) {
      std::vector<std::string> threads;
      bool deeper = false;
      for (const std::string& thread : threads_by_relevance(result_.best.trace)) {
        const auto depth = static_cast<std::size_t>(std::count(thread.begin(), thread.end(), '.'));
        deeper |= depth > level;
        const auto& absent = result_.best.schedule.absent_threads;
        const bool gone = std::any_of(absent.begin(), absent.end(), [&](const auto& ancestor) {
          return is_part_of(thread, ancestor);
        });
        if (depth == level && !gone) threads.push_back(thread);
      }
      if (threads.empty() && !deeper) return;
      remove_items("threads", threads, [](LeftOut& left_out, const std::string& thread) {
        left_out.threads.push_back(thread);
      });
    }
  }

  // A loop whose iterations are counted in the end needs all of them: it may have many thousands.
  static constexpr std::size_t kAlike = 64;
  // A block that holds this part of a run is tried to be left out as a whole in any case.
  static constexpr std::int64_t kWorthATrial = 16;

  /// Algorithm 4: thread by thread and block by block, iterations of which the failure has no need.
  void reduce_iterations() {
    asks_each_step_ = false;
    in_vain_ = 0;
    may_be_in_vain_ = trials_.may_be_in_vain();
    if (given_up_ == what_is_left_out()) return;
    // Those that create threads come last: somebody may have to do without joining them first.
    // What could take off most comes before what would be tried in vain.
    std::map<std::tuple<bool, std::string, std::string>, LeftOut> loops;
    for (const Iteration& iteration : removable_iterations(result_.best.trace)) {
      const bool creates = iteration.creates != 0;
      loops[{creates, iteration.thread, iteration.site}].iterations.push_back(iteration);
    }
    const auto worth = static_cast<std::int64_t>(events_of(result_.best.trace)) / kWorthATrial;
    std::multimap<std::pair<bool, std::int64_t>, std::vector<Iteration>> blocks;
    for (auto& [loop, alone] : loops) {
      const std::int64_t events = events_in(result_.best.trace, alone);
      if (events == 0) continue;
      blocks.emplace(std::pair{std::get<bool>(loop), -events}, std::move(alone.iterations));
    }
    for (auto& [gain, iterations] : blocks) {
      std::reverse(iterations.begin(),
                   iterations.end());  // the last before the failure matter most
      // What an iteration around it took away is not there any more.
      const std::vector<Iteration> present = iterations_of(result_.best.trace);
      std::erase_if(iterations, [&](const Iteration& iteration) {
        return std::find(present.begin(), present.end(), iteration) == present.end();
      });
      owed_ = -gain.second >= worth ? 1 : 0;
      remove_items(
          "iterations", iterations,
          [](LeftOut& left_out, const Iteration& iteration) {
            left_out.iterations.push_back(iteration);
          },
          kAlike);
    }
    owed_ = 0;
    result_.gave_up = gives_up() && !trials_.stopping();
    if (result_.gave_up) given_up_ = what_is_left_out();
  }

  // Fewer schedules than that are not worth beginning with.
  static constexpr std::uint64_t kFewest = 4;

  /// Of programs that do not fail under what is left of the run's schedule. Preemptions of a
  /// schedule that was found by chance say nothing yet: they are made fewer afterwards.
  bool find_smaller_elsewhere() {
    const auto size = [](const Attempt& attempt) {
      const Size all = size_of(attempt);
      return std::pair{all.threads, all.events};
    };
    const LeftOut already = already_left_out(result_.best.schedule);
    for (const LeftOut& left_out : smaller_programs(result_.best, already)) {
      if (trials_.stopping()) return false;
      trials_.report("other schedules", result_.best);
      auto [schedule, events, missing] = project(result_.best, left_out);
      schedule.decisions.clear();
      if (!searched_programs_.insert(key_of(schedule)).second) continue;
      const Common alone = alone_without(missing);
      const std::uint64_t left = trials_.worth_searching(searched_);
      // The first one may have to be executed from the beginning.
      const std::uint64_t rest = events - std::min(events, alone.events);
      if (events > left || kFewest * rest > left) continue;
      const std::uint64_t executed = result_.events_executed;
      std::optional<Attempt> found = trials_.search_any(schedule, alone, left);
      searched_ += result_.events_executed - executed;
      if (!found || size(*found) >= size(result_.best)) continue;
      result_.best = std::move(*found);
      return true;
    }
    return false;
  }

  /// What the best run did before anybody had a choice, as far as it is still done.
  Common alone_without(const std::vector<bool>& missing) const {
    const auto first = std::find(missing.begin(), missing.end(), true) - missing.begin();
    const std::uint64_t alone = events_alone(result_.best.trace);
    return {result_.best.number, std::min(alone, static_cast<std::uint64_t>(first))};
  }

  std::string what_is_left_out() const {
    trace::Schedule schedule = result_.best.schedule;
    schedule.decisions.clear();
    return key_of(schedule);
  }

  /// Decisions that are not needed go; what is then decided where nobody is preempted may differ,
  /// so it goes on until nothing gets smaller. Then all schedules with fewer preemptions are
  /// searched, as far as that is affordable.
  void reduce_switches() {
    guess_preemption();
    remove_decisions();
    if (trials_.stopping()) return;
    trials_.report("preemptions", result_.best);
    const bool none = trace::preemptions(result_.best.schedule) == 0;
    SearchResult fewer = trials_.search_below(result_.best);
    result_.fewest_preemptions = none || fewer.complete || fewer.found.has_value();
    if (!fewer.found) return;
    result_.best = std::move(*fewer.found);
    remove_decisions();
  }

  void guess_preemption() {
    if (trace::preemptions(result_.best.schedule) < 2 || trials_.stopping()) return;
    trials_.report("one preemption", result_.best);
    std::vector<BoundedSchedule> schedules;
    for (Schedule& schedule : with_one_preemption(result_.best, trials_.affordable(result_.best))) {
      schedules.push_back(as_long_as_best(std::move(schedule)));
    }
    std::vector<Judged> judged = trials_.judge_failure(schedules);
    for (Judged& one : judged) {
      if (one.verdict == Verdict::Accepted && weight(one.attempt) < weight(result_.best)) {
        result_.best = std::move(one.attempt);
      }
    }
  }

  void remove_decisions() {
    for (bool smaller = true; smaller && !trials_.stopping();) {
      const auto before = weight(result_.best);
      const Attempt base = result_.best;
      ddmin<Decision>(
          base.schedule.decisions,
          [&](const Candidates<Decision>& candidates) -> std::optional<std::size_t> {
            if (trials_.stopping()) return std::nullopt;
            trials_.report("switches", result_.best);
            std::vector<BoundedSchedule> schedules;
            for (const std::vector<Decision>& kept : candidates) {
              Schedule schedule = base.schedule;
              schedule.decisions = kept;
              schedules.push_back(trials_.bounded(
                  std::move(schedule), result_.best.trace.events.size(), in_common(base, kept)));
            }
            std::vector<Judged> judged = trials_.judge_failure(schedules);
            for (std::size_t i = 0; i < judged.size(); ++i) {
              if (judged[i].verdict != Verdict::Accepted) continue;
              if (weight(judged[i].attempt) < weight(result_.best)) {
                result_.best = std::move(judged[i].attempt);
              }
              return i;
            }
            return std::nullopt;
          });
      smaller = weight(result_.best) < before;
    }
  }

  /// Algorithm 3. Last, since a search through other schedules has to see what they could depend
  /// on.
  void overlook() {
    if (trials_.stopping()) return;
    result_.overlooking = overlook_rest();
  }

  Overlooking overlook_rest() {
    if (result_.best.schedule.memory_model != "sc") return Overlooking::DelayedStores;
    trials_.report("slice", result_.best);
    if (!slice_ || !has_slice(result_.best.trace.outcome)) return Overlooking::NoSlice;
    const trace::Trace done = without_iterations(result_.best.trace);
    const std::optional<std::vector<bool>> needed = slice_(done);
    if (!needed) return Overlooking::NoSlice;
    const std::vector<std::string> sites = sites_to_overlook(done, *needed);
    if (sites.empty()) return Overlooking::NothingOutside;
    LeftOut left_out = already_left_out(result_.best.schedule);
    left_out.overlooked.insert(left_out.overlooked.end(), sites.begin(), sites.end());
    const BoundedSchedule trial = projected(result_.best, left_out);
    std::vector<Judged> judged = trials_.judge_failure({&trial, 1});
    if (judged[0].verdict != Verdict::Accepted) return Overlooking::FailureIsMissed;
    result_.overlooked = overlooked_lines(result_.best.trace, sites);
    result_.best = std::move(judged[0].attempt);
    return Overlooking::Done;
  }

  static constexpr std::uint64_t kAnyNumber = ~std::uint64_t{0};

  const Attempt& original_;
  std::uint64_t may_be_in_vain_ = kAnyNumber;  // events, in this part
  std::uint64_t in_vain_ = 0;                  // since something went
  unsigned owed_ = 0;                          // trials that are made in any case
  std::string given_up_;        // what was left out when no more iterations were tried
  std::uint64_t searched_ = 0;  // events, in other schedules
  std::set<std::string> searched_programs_;
  std::vector<Iteration> iterations_;  // of the original run, sorted
  bool asks_each_step_ = false;        // (II), in this part
  Reduction result_;
  const decltype(ReduceOptions::slice) slice_;
  Trials trials_;
  Account account_;
};

}  // namespace

Reduction reduce(ReducingOracle& oracle, const Attempt& original, const ReduceOptions& options) {
  if (!original.trace.outcome.failed()) {
    throw user_error("the run did not fail: there is nothing to reduce");
  }
  const BoundedSchedule as_it_was{original.schedule};
  std::vector<Attempt> again = oracle.follow_all({&as_it_was, 1});
  if (trace::signature(again[0].trace) != trace::signature(original.trace)) {
    throw user_error(
        "the failure does not come back, so it cannot be reduced; see what differs with: "
        "heddle replay");
  }
  Reduction reduction = Reducer(oracle, again[0], options).run();
  const double replay_seconds = reduction.before.replay_seconds;
  reduction.before = size_of(original);
  reduction.before.replay_seconds = replay_seconds;
  return reduction;
}

}  // namespace heddle::analysis
