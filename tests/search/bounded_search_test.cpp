// SPDX-License-Identifier: Apache-2.0
//
// Pruning must lose nothing: on random small programs, the outcomes a pruned search sees within
// each bound are those the full search sees.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "driver/search/search.h"
#include "tests/search/model_program.h"

namespace heddle::search_model {
namespace {

struct Outcomes {
  std::set<std::string> seen;
  std::uint64_t runs = 0;
  std::optional<std::uint32_t> exhausted;
};

Outcomes search(const ModelProgram& program, const char* strategy, std::uint32_t bound, bool prune,
                std::uint64_t most = 200'000) {
  Model model(program);
  driver::SearchSettings settings;
  settings.strategies = {strategy};
  settings.max_preemptions = settings.max_delays = bound;
  settings.prune = prune;
  const auto search = driver::make_search(settings);
  Outcomes outcomes;
  while (outcomes.runs < most) {
    const auto trial = search->next();
    if (!trial) break;
    const ModelRun run = model.run(*trial);
    EXPECT_FALSE(run.diverged);
    ++outcomes.runs;
    outcomes.seen.insert(run.outcome());
    search->observe(*trial, model.channel(), run.failed);
  }
  outcomes.exhausted = search->exhausted_bound();
  return outcomes;
}

ModelProgram random_program(std::mt19937& random) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  ModelProgram program;
  const std::uint32_t threads = 2 + below(2);
  for (std::uint32_t t = 0; t < threads; ++t) {
    std::vector<Step> steps;
    std::vector<std::uint32_t> held;
    const std::uint32_t length = 2 + below(threads == 2 ? 6 : 4);
    for (std::uint32_t i = 0; i < length; ++i) {
      const std::uint32_t mutex = below(2);
      const bool holds = std::find(held.begin(), held.end(), mutex) != held.end();
      switch (below(5)) {
        case 0:
          if (holds) break;
          steps.push_back({Step::Lock, mutex});
          held.push_back(mutex);
          break;
        case 1:
          if (held.empty()) break;
          steps.push_back({Step::Unlock, held.back()});
          held.pop_back();
          break;
        case 2: steps.push_back({Step::Write, below(3), t * 100 + i + 1}); break;
        default: steps.push_back({Step::Read, below(3)});
      }
    }
    while (!held.empty()) {
      steps.push_back({Step::Unlock, held.back()});
      held.pop_back();
    }
    program.threads.push_back(steps);
  }
  return program;
}

class PrunedSearch : public testing::TestWithParam<const char*> {};

TEST_P(PrunedSearch, SeesEveryOutcomeOfTheFullSearchWithinEachBound) {
  std::mt19937 random(7);
  std::uint64_t full_runs = 0;
  std::uint64_t pruned_runs = 0;
  for (int round = 0; round < 400; ++round) {
    const ModelProgram program = random_program(random);
    for (std::uint32_t bound = 0; bound <= 3; ++bound) {
      const Outcomes full = search(program, GetParam(), bound, false);
      const Outcomes pruned = search(program, GetParam(), bound, true);
      ASSERT_EQ(full.exhausted, bound);
      ASSERT_EQ(pruned.exhausted, bound);
      for (const std::string& outcome : full.seen) {
        ASSERT_TRUE(pruned.seen.contains(outcome))
            << "program " << round << ", bound " << bound << ": lost " << outcome;
      }
      full_runs += full.runs;
      pruned_runs += pruned.runs;
    }
  }
  std::printf("full search: %lu runs, pruned: %lu\n", full_runs, pruned_runs);
  EXPECT_LT(pruned_runs, full_runs);
}

INSTANTIATE_TEST_SUITE_P(Costs, PrunedSearch, testing::Values("chess", "delay"));

// Two threads that share nothing: no preemption can matter.
TEST(BoundedSearch, PreemptsNobodyWhoTouchesWhatOthersDoNot) {
  ModelProgram program;
  program.threads = {{{Step::Write, 0, 1}, {Step::Read, 0}, {Step::Write, 0, 2}},
                     {{Step::Write, 1, 1}, {Step::Read, 1}, {Step::Write, 1, 2}}};
  EXPECT_EQ(search(program, "chess", 3, true).runs, 1u);
  EXPECT_GT(search(program, "chess", 3, false).runs, 20u);
}

// Four readers have 24 orders. There are 12 ways to choose the first two, but they lead to 6
// states: of the two choices in each, one is what those 12 went on with, and the other is tried
// once.
TEST(BoundedSearch, TakesNoChoiceTwiceInTheSameState) {
  ModelProgram program;
  program.threads = {
      {}, {{Step::Read, 0}}, {{Step::Read, 0}}, {{Step::Read, 0}}, {{Step::Read, 0}}};
  EXPECT_EQ(search(program, "chess", 0, true).runs, 18u);
  EXPECT_EQ(search(program, "chess", 0, false).runs, 24u);
}

TEST(BoundedSearch, IsFairToThreadsThatAreWaitedForBySpinning) {
  ModelProgram program;
  program.threads = {{{Step::AwaitValue, 0, 1}, {Step::Read, 1}},
                     {{Step::Yield}, {Step::Write, 1, 5}, {Step::Write, 0, 1}}};
  const Outcomes outcomes = search(program, "chess", 1, true);
  EXPECT_EQ(outcomes.exhausted, 1u);
  EXPECT_EQ(outcomes.seen, (std::set<std::string>{" [5] []"}));
}

TEST(BoundedSearch, FindsADeadlockOfOnePreemptionAndSaysWhatIsExhausted) {
  ModelProgram program;
  program.threads = {{{Step::Lock, 0}, {Step::Lock, 1}, {Step::Unlock, 1}, {Step::Unlock, 0}},
                     {{Step::Lock, 1}, {Step::Lock, 0}, {Step::Unlock, 0}, {Step::Unlock, 1}}};
  EXPECT_FALSE(search(program, "chess", 0, true).seen.contains("deadlock [] []"));
  EXPECT_TRUE(search(program, "chess", 1, true).seen.contains("deadlock [] []"));
}

}  // namespace
}  // namespace heddle::search_model
