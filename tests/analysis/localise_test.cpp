// SPDX-License-Identifier: Apache-2.0
//
// Localisation against a toy program that is really executed: threads of reads and writes, a
// scheduler that follows decisions and orders as the runtime does, and a check of what was read.
#include "analysis/localise/localise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "base/error.h"
#include "tests/analysis/small_trace.h"

namespace heddle::analysis {
namespace {

struct Step {
  char kind;  // R: reads into the thread's register; W: writes register + 1; C: writes 0
  std::string site;
  std::string variable;
};

class ToyProgram final : public SteeringOracle {
 public:
  std::vector<std::vector<Step>> threads;  // of t0.1, t0.2 ...
  std::function<bool(const std::map<std::string, int>&, const std::map<std::string, int>&)> fails;
  int executions = 0;

  Attempt follow(const trace::Schedule& schedule) override { return steer(schedule, {}); }

  Attempt steer(const trace::Schedule& schedule, const std::vector<Order>& orders) override {
    return execute(schedule, orders,
                   [](const std::vector<std::size_t>&, std::size_t current) { return current; });
  }

  Attempt wander(const trace::Schedule& schedule, std::uint64_t seed) override {
    std::minstd_rand random(static_cast<unsigned>(seed));
    trace::Schedule free = schedule;
    free.decisions.clear();
    return execute(free, {}, [&](const std::vector<std::size_t>& enabled, std::size_t) {
      return enabled[random() % enabled.size()];
    });
  }

  Attempt delay(const trace::Schedule& schedule, std::uint64_t seed) override {
    ++delayed;
    return wander(schedule, seed + 1000);
  }
  int delayed = 0;

  /// Before t0.`thread` comes to `site`, t0.`target` goes on.
  static trace::Schedule switching(const std::string& thread, const std::string& site,
                                   const std::string& target) {
    trace::Schedule schedule;
    trace::Decision decision;
    decision.thread = thread;
    decision.site = site;
    decision.target = target;
    schedule.decisions.push_back(decision);
    return schedule;
  }

 private:
  using Choice = std::function<std::size_t(const std::vector<std::size_t>&, std::size_t)>;

  Attempt execute(const trace::Schedule& schedule, const std::vector<Order>& orders,
                  const Choice& choose) {
    ++executions;
    SmallTrace small(static_cast<unsigned>(threads.size()));
    std::map<std::string, int> memory;
    std::map<std::string, int> seen;  // by site
    std::vector<std::size_t> next(threads.size(), 0);
    std::vector<int> registers(threads.size(), 0);
    std::size_t current = 0;
    const auto name = [](std::size_t i) { return "t0." + std::to_string(i + 1); };
    const auto done = [&](const Point& point) {
      for (std::size_t i = 0; i < threads.size(); ++i) {
        for (std::size_t k = 0; name(i) == point.thread && k < next[i]; ++k) {
          if (threads[i][k].site == point.site) return true;
        }
      }
      return false;
    };
    const auto held = [&](std::size_t i) {
      return std::any_of(orders.begin(), orders.end(), [&](const Order& order) {
        return order.second.thread == name(i) && order.second.site == threads[i][next[i]].site &&
               !done(order.first);
      });
    };
    Attempt attempt;
    attempt.schedule = schedule;
    for (;;) {
      std::vector<std::size_t> enabled;
      for (std::size_t i = 0; i < threads.size(); ++i) {
        if (next[i] < threads[i].size()) enabled.push_back(i);
      }
      if (enabled.empty()) break;
      std::vector<std::size_t> free;
      std::copy_if(enabled.begin(), enabled.end(), std::back_inserter(free),
                   [&](std::size_t i) { return !held(i); });
      if (free.empty()) free = enabled;
      std::size_t chosen = choose(free, current);
      if (next[current] < threads[current].size()) {
        for (const trace::Decision& decision : schedule.decisions) {
          if (decision.thread != name(current) ||
              decision.site != threads[current][next[current]].site) {
            continue;
          }
          for (const std::size_t i : free) {
            if (name(i) == decision.target) chosen = i;
          }
        }
      }
      if (std::find(free.begin(), free.end(), chosen) == free.end()) chosen = free.front();
      current = chosen;
      const Step& step = threads[current][next[current]++];
      const auto thread = static_cast<trace::ThreadId>(current + 1);
      if (step.kind == 'R') {
        registers[current] = seen[step.site] = memory[step.variable];
        small.reads(thread, step.site, step.variable);
      } else {
        memory[step.variable] = step.kind == 'W' ? registers[current] + 1 : 0;
        small.writes(thread, step.site, step.variable);
      }
    }
    if (fails(memory, seen)) small.fails();
    attempt.trace = small.trace();
    return attempt;
  }
};

ToyProgram counter() {
  ToyProgram program;
  program.threads = {{{'R', "a", "x"}, {'W', "b", "x"}, {'W', "log1", "other"}},
                     {{'R', "c", "x"}, {'W', "d", "x"}, {'W', "log2", "other"}}};
  program.fails = [](const auto& memory, const auto&) { return memory.at("x") != 2; };
  return program;
}

TEST(Localise, ALostUpdateIsConfirmedAndNothingElse) {
  ToyProgram program = counter();
  const Attempt failed = program.follow(ToyProgram::switching("t0.1", "b", "t0.2"));
  ASSERT_TRUE(failed.trace.outcome.failed());
  const Localisation result = localise(program, failed, {});
  ASSERT_EQ(result.findings.size(), 1u);
  const Finding& finding = result.findings[0];
  EXPECT_TRUE(finding.confirmed);
  EXPECT_EQ(finding.rank, 1u);
  EXPECT_EQ(finding.procedure, "I");
  EXPECT_EQ(finding.bug_class, BugClass::AtomicityViolation);
  EXPECT_EQ(finding.shape, 5u);
  EXPECT_EQ(finding.pairs[0].first.point.site, "a");
  EXPECT_EQ(finding.pairs[0].second.point.site, "d");
  for (const FoundPair& pair : finding.pairs) EXPECT_EQ(pair.variable, "x");
  EXPECT_TRUE(result.saturated);
  EXPECT_TRUE(result.nearest.has_value());
  EXPECT_EQ(result.curve.size(), result.passing_runs);
}

TEST(Localise, AnOrderViolation) {
  ToyProgram program;
  program.threads = {{{'W', "init", "x"}}, {{'R', "use", "x"}}};
  program.fails = [](const auto&, const auto& seen) { return seen.at("use") == 0; };
  const Attempt failed = program.follow(ToyProgram::switching("t0.1", "init", "t0.2"));
  const Localisation result = localise(program, failed, {});
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_TRUE(result.findings[0].confirmed);
  EXPECT_EQ(result.findings[0].bug_class, BugClass::OrderViolation);
  EXPECT_EQ(result.findings[0].shape, 2u);
}

/// A write between two reads, as in an atomicity violation; but before both of them it fails too.
TEST(Localise, AnOrderViolationAmongSeveralAccesses) {
  ToyProgram program;
  program.threads = {{{'R', "look", "x"}, {'R', "use", "x"}}, {{'W', "free", "x"}}};
  program.fails = [](const auto&, const auto& seen) {
    return seen.at("look") == 1 || seen.at("use") == 1;
  };
  const Attempt failed = program.follow(ToyProgram::switching("t0.1", "use", "t0.2"));
  ASSERT_TRUE(failed.trace.outcome.failed());
  const Localisation result = localise(program, failed, {});
  EXPECT_TRUE(result.findings.at(0).confirmed);
  EXPECT_EQ(result.findings[0].bug_class, BugClass::OrderViolation);
  EXPECT_EQ(result.findings[0].shape, 1u);
}

/// The same accesses where the write passes before both reads and after them.
TEST(Localise, AnAtomicityViolation) {
  ToyProgram program;
  program.threads = {{{'R', "look", "x"}, {'R', "use", "x"}}, {{'W', "change", "x"}}};
  program.fails = [](const auto&, const auto& seen) { return seen.at("look") != seen.at("use"); };
  const Attempt failed = program.follow(ToyProgram::switching("t0.1", "use", "t0.2"));
  const Localisation result = localise(program, failed, {});
  EXPECT_TRUE(result.findings.at(0).confirmed);
  EXPECT_EQ(result.findings[0].bug_class, BugClass::AtomicityViolation);
  EXPECT_EQ(result.findings[0].shape, 6u);
  ASSERT_EQ(result.findings[0].regions.size(), 1u);
  EXPECT_EQ(result.findings[0].regions[0].first.point.site, "look");
  EXPECT_EQ(result.findings[0].regions[0].last.point.site, "use");
}

/// Each looks at what the other announces, before announcing itself.
TEST(Localise, AnAtomicityViolationOfTwoVariables) {
  ToyProgram program;
  program.threads = {{{'R', "a", "x"}, {'W', "b", "y"}}, {{'R', "c", "y"}, {'W', "d", "x"}}};
  program.fails = [](const auto&, const auto& seen) {
    return seen.at("a") == 0 && seen.at("c") == 0;
  };
  const Attempt failed = program.follow(ToyProgram::switching("t0.1", "b", "t0.2"));
  const Localisation result = localise(program, failed, {});
  EXPECT_TRUE(result.findings.at(0).confirmed);
  EXPECT_EQ(result.findings[0].bug_class, BugClass::MultiVariableAtomicityViolation);
  EXPECT_EQ(result.findings[0].shape, 9u);
}

TEST(Localise, DecisionsThatTheFailureDoesNotNeedAreLeftOut) {
  ToyProgram program = counter();
  trace::Schedule schedule = ToyProgram::switching("t0.1", "b", "t0.2");
  schedule.decisions.push_back(ToyProgram::switching("t0.2", "log2", "t0.1").decisions.front());
  const Localisation result = localise(program, program.follow(schedule), {});
  EXPECT_EQ(result.failed.schedule.decisions.size(), 1u);
  EXPECT_TRUE(result.findings.at(0).confirmed);
}

TEST(Localise, WithoutAPassingRunThereIsNoFinding) {
  ToyProgram program = counter();
  program.fails = [](const auto&, const auto&) { return true; };
  const Localisation result = localise(program, program.follow({}), {});
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.passing_runs, 0u);
  EXPECT_GT(result.executions, 100u);
}

TEST(Localise, PassingRunsAreAlsoMadeWithDelays) {
  ToyProgram program = counter();
  const Attempt failed = program.follow(ToyProgram::switching("t0.1", "b", "t0.2"));
  const Localisation result = localise(program, failed, {});
  EXPECT_TRUE(result.saturated);
  EXPECT_GE(program.delayed, 40);  // until they have nothing new to show
  EXPECT_LE(result.passing_runs, LocaliseOptions{}.max_passing);
}

TEST(Localise, OtherFailuresAreKeptApart) {
  ToyProgram program = counter();
  const Attempt failed = program.follow(ToyProgram::switching("t0.1", "b", "t0.2"));
  class TwoBugs final : public SteeringOracle {
   public:
    explicit TwoBugs(ToyProgram& inner) : inner_(inner) {}
    Attempt follow(const trace::Schedule& schedule) override { return inner_.follow(schedule); }
    Attempt steer(const trace::Schedule& schedule, const std::vector<Order>& orders) override {
      return inner_.steer(schedule, orders);
    }
    Attempt wander(const trace::Schedule& schedule, std::uint64_t seed) override {
      Attempt attempt = inner_.wander(schedule, seed);
      if (seed % 5 == 0) attempt.trace.outcome = SmallTrace().fails("elsewhere").trace().outcome;
      return attempt;
    }
    Attempt delay(const trace::Schedule& schedule, std::uint64_t seed) override {
      return inner_.delay(schedule, seed);
    }

   private:
    ToyProgram& inner_;
  } both(program);
  const Localisation result = localise(both, failed, {});
  EXPECT_EQ(result.other_failures.size(), 1u);
  EXPECT_TRUE(result.findings.at(0).confirmed);
}

TEST(Localise, WhatItCannotWorkWithIsAUserMistake) {
  ToyProgram program = counter();
  const Attempt failed = program.follow(ToyProgram::switching("t0.1", "b", "t0.2"));
  EXPECT_THROW(localise(program, program.follow({}), {}), Error);  // it passed
  Attempt gone = failed;
  gone.schedule.decisions.clear();
  EXPECT_THROW(localise(program, gone, {}), Error);  // it does not come back
  LocaliseOptions options;
  options.given = {program.follow({})};
  options.given[0].trace.header.build_id = "another";
  EXPECT_THROW(localise(program, failed, options), Error);
  options.given = {failed};
  EXPECT_THROW(localise(program, failed, options), Error);  // a failed run among the passing ones
}

}  // namespace
}  // namespace heddle::analysis
