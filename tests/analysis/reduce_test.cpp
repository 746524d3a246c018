// SPDX-License-Identifier: Apache-2.0
//
// The reducer against a toy program: main and workers; it fails when t0.1 is preempted at "race" in
// favour of t0.2.1. It can also be made to fail whenever a helper thread's work is missing, which
// criterion II has to notice.
#include "analysis/reduce/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "trace/counts.h"

namespace heddle::analysis {
namespace {

class ToyOracle : public ReducingOracle {
 public:
  std::vector<std::string> threads = {"t0", "t0.1", "t0.2", "t0.2.1", "t0.3", "t0.4"};
  std::string needed_for_work;  // without it the program fails however it is scheduled
  std::vector<std::uint64_t> fails_in_order;  // sequential orders in which it fails
  bool other_bug_without_four = false;
  std::optional<Attempt> cheaper;       // what a search finds
  std::vector<std::uint32_t> searched;  // bounds that were searched
  bool search_overlooks = false;        // or has something in common with a run that does
  bool passes_by_chance = false;        // nobody is preempted at "race"; else that happens
  int executions = 0;
  int looked = 0;             // programs of which some schedules were tried
  int whole_in_sequence = 0;  // sequential executions in which nothing was left out

  Attempt follow(const trace::Schedule& schedule) override { return execute(schedule); }

  std::vector<Attempt> follow_all(std::span<const BoundedSchedule> schedules) override {
    std::vector<Attempt> attempts;
    for (const BoundedSchedule& bounded : schedules) attempts.push_back(execute(bounded.schedule));
    return attempts;
  }

  Attempt run_sequentially(const trace::Schedule& schedule, std::uint64_t order,
                           const Common&) override {
    trace::Schedule sequential = schedule;
    sequential.decisions.clear();
    if (schedule.absent_threads.empty()) ++whole_in_sequence;
    Attempt attempt = execute(sequential);
    const bool fails =
        std::find(fails_in_order.begin(), fails_in_order.end(), order) != fails_in_order.end();
    if (fails) fail(attempt, 3);
    return attempt;
  }

  Attempt wander(const trace::Schedule& schedule, std::uint64_t) override {
    trace::Schedule quiet = schedule;
    quiet.decisions.clear();
    Attempt attempt = execute(quiet);
    if (!passes_by_chance) fail(attempt, 3);
    return attempt;
  }

  SearchResult search(const trace::Schedule& schedule, const SearchRequest& request) override {
    SearchResult result;
    if (request.among == SearchRequest::Among::Any) {
      ++looked;
      result.found = found_without(schedule.absent_threads);
      return result;
    }
    searched.push_back(request.most_preemptions);
    search_overlooks |= !schedule.overlooked.empty() || request.alone.attempt != 0;
    if (cheaper && trace::preemptions(cheaper->schedule) <= request.most_preemptions) {
      result.found = cheaper;
    }
    result.complete = true;
    return result;
  }

  /// What other schedules of the program without these threads give.
  virtual std::optional<Attempt> found_without(const std::vector<std::string>&) {
    return std::nullopt;
  }

  virtual Attempt execute(const trace::Schedule& schedule) {
    ++executions;
    Attempt attempt;
    attempt.schedule = schedule;
    const auto runs = [&](const std::string& thread) {
      return std::none_of(schedule.absent_threads.begin(), schedule.absent_threads.end(),
                          [&](const std::string& gone) {
                            return thread == gone || thread.starts_with(gone + ".");
                          });
    };
    for (const std::string& thread : threads) attempt.trace.threads.push_back({thread, 0});
    add_events(attempt, schedule, runs);
    const bool raced =
        runs("t0.1") && runs("t0.2.1") &&
        std::any_of(schedule.decisions.begin(), schedule.decisions.end(),
                    [](const trace::Decision& decision) { return decision.site == "race"; });
    if (raced || (!needed_for_work.empty() && !runs(needed_for_work))) fail(attempt, 3);
    if (other_bug_without_four && !runs("t0.4")) fail(attempt, 99);
    return attempt;
  }

  /// t0.1 goes to another thread before each of its events.
  Attempt failing() {
    trace::Schedule schedule;
    std::uint64_t ordinal = 0;
    for (const char* site : {"a", "b", "race", "c", "d", "e"}) {
      trace::Decision decision;
      decision.thread = "t0.1";
      decision.site = site;
      decision.ordinal = ++ordinal;
      decision.target = site[0] == 'c' ? "t0.3" : "t0.2.1";
      decision.preemption = true;
      schedule.decisions.push_back(decision);
    }
    return execute(schedule);
  }

 protected:
  static void fail(Attempt& attempt, std::uint32_t line) {
    attempt.trace.outcome.kind = abi::FailureKind::Assert;
    attempt.trace.outcome.file = "toy.c";
    attempt.trace.outcome.line = line;
    attempt.trace.outcome.function = "check";
  }

 private:
  /// What t0.1 does, with the switches of the schedule.
  template <typename Runs>
  void add_events(Attempt& attempt, const trace::Schedule& schedule, Runs runs) {
    const auto index = [&](const std::string& path) {
      return static_cast<trace::ThreadId>(std::find(threads.begin(), threads.end(), path) -
                                          threads.begin());
    };
    const auto add = [&](const std::string& thread, const std::string& site) {
      if (!runs(thread)) return;
      trace::Event event;
      event.kind = trace::EventKind::Load;
      event.thread = index(thread);
      event.site = static_cast<trace::SiteIndex>(attempt.trace.sites.size());
      attempt.trace.sites.push_back({site, "", {}});
      attempt.trace.events.push_back(event);
    };
    if (index("t0.2.1") == threads.size()) return;
    add("t0", "main");
    for (const char* site : {"a", "b", "race", "c", "d", "e"}) {
      for (const trace::Decision& decision : schedule.decisions) {
        if (decision.thread == "t0.1" && decision.site == site) add(decision.target, "elsewhere");
      }
      add("t0.1", site);
    }
  }
};

TEST(Reduce, KeepsOnlyTheThreadsAndSwitchesThatAreNeeded) {
  ToyOracle oracle;
  const Reduction reduction = reduce(oracle, oracle.failing(), {});
  EXPECT_EQ(std::set(reduction.removed_threads.begin(), reduction.removed_threads.end()),
            (std::set<std::string>{"t0.3", "t0.4"}));
  EXPECT_EQ(reduction.after.threads, 4u);  // t0.2 stays: its child is needed
  EXPECT_EQ(reduction.after.preemptions, 1u);
  const auto& decisions = reduction.best.schedule.decisions;
  EXPECT_EQ(std::count_if(decisions.begin(), decisions.end(),
                          [](const auto& decision) { return decision.site == "race"; }),
            1);
  EXPECT_EQ(reduction.passing_order, 0u);
  EXPECT_EQ(reduction.before.preemptions, 6u);
}

TEST(Reduce, SaysWhatWentAndWhatStayedAndWhy) {
  ToyOracle oracle;
  oracle.other_bug_without_four = true;
  const Reduction reduction = reduce(oracle, oracle.failing(), {});
  std::map<std::string, const AccountEntry*> of;
  for (const AccountEntry& entry : reduction.account) of[entry.thread] = &entry;
  EXPECT_TRUE(of.at("t0.3")->removed);
  EXPECT_FALSE(of.at("t0.1")->removed);
  EXPECT_NE(of.at("t0.1")->why.find("does not come back"), std::string::npos);
  EXPECT_NE(of.at("t0.4")->why.find("another failure"), std::string::npos) << of.at("t0.4")->why;
}

TEST(Reduce, AThreadWhoseWorkIsMissedIsNotRemoved) {
  ToyOracle oracle;
  oracle.needed_for_work = "t0.4";
  const Reduction reduction = reduce(oracle, oracle.failing(), {});
  EXPECT_EQ(reduction.removed_threads, (std::vector<std::string>{"t0.3"}));
  EXPECT_EQ(reduction.best.schedule.absent_threads, reduction.removed_threads);
}

TEST(Reduce, TheWholeProgramIsNotExecutedInSequenceUnlessThereIsDoubt) {
  ToyOracle oracle;
  EXPECT_EQ(reduce(oracle, oracle.failing(), {}).passing_order, 0u);
  EXPECT_EQ(oracle.whole_in_sequence, 0);
  // Without t0.3 and t0.4 alike it fails in every order: then the run itself is asked, once.
  class NeedsBoth final : public ToyOracle {
   public:
    Attempt execute(const trace::Schedule& schedule) override {
      Attempt attempt = ToyOracle::execute(schedule);
      const auto& absent = schedule.absent_threads;
      const auto is_absent = [&](const char* thread) {
        return std::find(absent.begin(), absent.end(), thread) != absent.end();
      };
      if (is_absent("t0.3") || is_absent("t0.4")) fail(attempt, 3);
      return attempt;
    }
  } both;
  const Reduction reduction = reduce(both, both.failing(), {});
  EXPECT_TRUE(reduction.removed_threads.empty());
  EXPECT_EQ(both.whole_in_sequence, 1);
}

TEST(Reduce, WhatWasTurnedDownIsNotExecutedAgain) {
  ToyOracle oracle;
  oracle.needed_for_work = "t0.3";
  oracle.other_bug_without_four = true;
  const Reduction first = reduce(oracle, oracle.failing(), {});
  // A second round over a run that cannot get smaller asks nothing new.
  oracle.executions = 0;
  const Reduction again = reduce(oracle, first.best, {});
  EXPECT_EQ(again.best.schedule, first.best.schedule);
  EXPECT_EQ(again.rounds, 1u);
  EXPECT_EQ(static_cast<std::uint64_t>(oracle.executions), again.trials);
}

TEST(Reduce, AnotherOrderIsTriedWhereTheFirstFails) {
  ToyOracle oracle;
  oracle.needed_for_work = "t0.4";
  oracle.fails_in_order = {0, 1, 2};
  const Reduction reduction = reduce(oracle, oracle.failing(), {});
  EXPECT_EQ(reduction.passing_order, 3u);
  EXPECT_EQ(reduction.removed_threads, (std::vector<std::string>{"t0.3"}));
}

TEST(Reduce, WhereNoOrderPassesTheSignatureDecidesAlone) {
  ToyOracle oracle;
  for (std::uint64_t order = 0; order < 100; ++order) oracle.fails_in_order.push_back(order);
  const Reduction reduction = reduce(oracle, oracle.failing(), {});
  EXPECT_FALSE(reduction.passing_order.has_value());
  EXPECT_EQ(reduction.after.threads, 4u);
}

/// Fails in every order, and with threads running as soon as they are created: whoever waits for
/// what its creator does next has no such order.
class NoOrderOracle final : public ToyOracle {
 public:
  NoOrderOracle() {
    needed_for_work = "t0.4";
    for (std::uint64_t order = 0; order < 100; ++order) fails_in_order.push_back(order);
  }
  std::vector<Attempt> follow_all(std::span<const BoundedSchedule> schedules) override {
    std::vector<Attempt> attempts = ToyOracle::follow_all(schedules);
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      if (schedules[i].schedule.decisions.empty()) fail(attempts[i], 3);
    }
    return attempts;
  }
};

TEST(Reduce, WhereNoOrderPassesASchedulePassesByChanceUnlessWorkIsMissing) {
  NoOrderOracle oracle;
  oracle.passes_by_chance = true;
  const Reduction reduction = reduce(oracle, oracle.failing(), {});
  EXPECT_FALSE(reduction.passing_order.has_value());
  EXPECT_TRUE(reduction.passes_by_chance);
  const auto& removed = reduction.removed_threads;
  EXPECT_EQ(std::set(removed.begin(), removed.end()),
            (std::set<std::string>{"t0.1", "t0.2", "t0.3"}));

  NoOrderOracle always;
  const Reduction alone = reduce(always, always.failing(), {});
  EXPECT_FALSE(alone.passes_by_chance);
  EXPECT_EQ(alone.removed_threads.size(), 4u);  // whatever is left out, it fails so
}

TEST(Reduce, AnotherBugIsNeverAccepted) {
  ToyOracle oracle;
  oracle.other_bug_without_four = true;
  for (std::uint64_t order = 0; order < 100; ++order) oracle.fails_in_order.push_back(order);
  const Reduction reduction = reduce(oracle, oracle.failing(), {});
  EXPECT_EQ(reduction.removed_threads, (std::vector<std::string>{"t0.3"}));
}

/// Everybody meets at a barrier; whoever is missing starves the others, with the same signature.
class BarrierOracle final : public ToyOracle {
 public:
  Attempt execute(const trace::Schedule& schedule) override {
    Attempt attempt = ToyOracle::execute(schedule);
    attempt.trace.objects.push_back({trace::ObjectKind::Static, "gate", 32});
    trace::Event meet;
    meet.kind = trace::EventKind::BarrierWait;
    meet.object = 0;
    for (trace::ThreadId i = 1; i < threads.size(); ++i) {
      meet.thread = i;
      attempt.trace.events.push_back(meet);
    }
    attempt.trace.outcome = {};
    attempt.trace.outcome.kind = abi::FailureKind::LostWakeup;
    trace::Wait wait;
    wait.kind = trace::EventKind::BarrierWait;
    wait.thread = 1;
    wait.object = 0;
    attempt.trace.outcome.waits = {wait};
    return attempt;
  }
};

TEST(Reduce, AStarvedBarrierIsNotTheBug) {
  BarrierOracle oracle;
  const Reduction reduction = reduce(oracle, oracle.failing(), {});
  EXPECT_FALSE(reduction.passing_order.has_value());
  EXPECT_TRUE(reduction.removed_threads.empty());
}

TEST(Reduce, TakesFewerPreemptionsWhereASearchFindsThem) {
  ToyOracle oracle;
  Attempt cheaper = oracle.failing();
  cheaper.schedule.decisions.clear();
  cheaper.schedule.absent_threads = {"t0.3", "t0.4"};
  oracle.cheaper = cheaper;
  const Reduction reduction = reduce(oracle, oracle.failing(), {});
  EXPECT_EQ(oracle.searched.at(0), 0u);  // below the one that delta debugging leaves
  EXPECT_EQ(reduction.after.preemptions, 0u);
  EXPECT_TRUE(reduction.fewest_preemptions);
}

TEST(Reduce, TheSearchForFewerPreemptionsSeesEverything) {
  ToyOracle oracle;
  Attempt overlooking = oracle.failing();
  overlooking.schedule.overlooked = {"d"};
  overlooking.number = 1;
  const Reduction reduction = reduce(oracle, overlooking, {});
  EXPECT_FALSE(oracle.searched.empty());
  EXPECT_FALSE(oracle.search_overlooks);
  EXPECT_EQ(reduction.best.schedule.overlooked, overlooking.schedule.overlooked);
}

/// Where t0.1 goes to t0.2 at "a", which it does not in the run, it fails without t0.2.1, too.
class OtherWayOracle final : public ToyOracle {
 public:
  bool work_is_missed = false;  // without t0.2.1, in every order

  Attempt failing_otherwise() {
    trace::Schedule schedule = failing().schedule;
    std::erase_if(schedule.decisions,
                  [](const trace::Decision& decision) { return decision.site == "a"; });
    return execute(schedule);
  }

  std::optional<Attempt> found_without(const std::vector<std::string>& absent) override {
    trace::Schedule schedule = failing().schedule;
    schedule.absent_threads = absent;
    Attempt attempt = execute(schedule);
    if (!attempt.trace.outcome.failed()) return std::nullopt;
    return attempt;
  }

  Attempt execute(const trace::Schedule& schedule) override {
    Attempt attempt = ToyOracle::execute(schedule);
    attempt.trace.outcome.thread = 1;
    const auto is_absent = [&](const char* thread) {
      const auto& absent = schedule.absent_threads;
      return std::find(absent.begin(), absent.end(), thread) != absent.end();
    };
    const bool goes_at_a =
        std::any_of(schedule.decisions.begin(), schedule.decisions.end(),
                    [](const trace::Decision& decision) { return decision.site == "a"; });
    if (!is_absent("t0.2") && is_absent("t0.2.1") && (goes_at_a || work_is_missed)) {
      fail(attempt, 3);
    }
    return attempt;
  }
};

TEST(Reduce, LooksForASmallerProgramInOtherSchedules) {
  OtherWayOracle oracle;
  const Reduction reduction = reduce(oracle, oracle.failing_otherwise(), {});
  EXPECT_EQ(std::set(reduction.removed_threads.begin(), reduction.removed_threads.end()),
            (std::set<std::string>{"t0.2.1", "t0.3", "t0.4"}));
  EXPECT_EQ(reduction.after.threads, 3u);
  EXPECT_EQ(reduction.after.preemptions, 1u);
}

TEST(Reduce, AProgramThatMissesWorkIsNotTakenFromOtherSchedules) {
  OtherWayOracle oracle;
  oracle.work_is_missed = true;
  const Reduction reduction = reduce(oracle, oracle.failing_otherwise(), {});
  EXPECT_GT(oracle.looked, 0);
  EXPECT_EQ(reduction.after.threads, 4u);
}

TEST(Reduce, TheResultDoesNotDependOnHowManyAreTriedAtOnce) {
  class Parallel final : public ToyOracle {
   public:
    unsigned parallel() const override { return 4; }
  } parallel;
  ToyOracle alone;
  const Reduction a = reduce(alone, alone.failing(), {});
  const Reduction b = reduce(parallel, parallel.failing(), {});
  EXPECT_EQ(a.best.schedule, b.best.schedule);
}

TEST(Reduce, StopsWhenAskedAndKeepsTheBest) {
  ToyOracle oracle;
  const Attempt original = oracle.failing();
  int asked = 0;
  ReduceOptions options;
  options.stop = [&] { return ++asked > 3; };
  const Reduction reduction = reduce(oracle, original, options);
  EXPECT_TRUE(reduction.stopped);
  EXPECT_EQ(trace::signature(reduction.best.trace), trace::signature(original.trace));
}

TEST(Reduce, RefusesWhatDoesNotFailOrDoesNotComeBack) {
  ToyOracle oracle;
  EXPECT_THROW(reduce(oracle, oracle.execute({}), {}), Error);
  Attempt lost = oracle.failing();
  lost.schedule.decisions.clear();
  EXPECT_THROW(reduce(oracle, lost, {}), Error);
}

}  // namespace
}  // namespace heddle::analysis
