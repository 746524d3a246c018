// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <span>

#include "base/error.h"
#include "driver/search/search.h"
#include "tests/search/model_program.h"

namespace heddle::search_model {
namespace {

driver::SearchSettings settings(std::vector<std::string> strategies, std::uint64_t seed = 1) {
  driver::SearchSettings result;
  result.strategies = std::move(strategies);
  result.options.seed = seed;
  return result;
}

/// Three threads that read and write two variables.
ModelProgram sample() {
  ModelProgram program;
  program.threads = {{{Step::Write, 0, 1}, {Step::Read, 1}},
                     {{Step::Write, 1, 2}, {Step::Read, 0}},
                     {{Step::Read, 0}, {Step::Read, 1}, {Step::Write, 5, 1}, {Step::Read, 5}}};
  return program;
}

std::vector<std::string> trials(const driver::SearchSettings& settings, int count,
                                const ModelProgram& program = sample()) {
  Model model(program);
  const auto search = driver::make_search(settings);
  std::vector<std::string> result;
  for (int i = 0; i < count; ++i) {
    const auto trial = search->next();
    if (!trial) break;
    const ModelRun run = model.run(*trial);
    EXPECT_FALSE(run.diverged);
    std::string text = std::string(trial->options.strategy) + " ";
    for (const abi::ThreadIndex thread : run.order) text += static_cast<char>('0' + thread);
    result.push_back(text);
    search->observe(*trial, model.channel(), run.failed);
  }
  return result;
}

TEST(Portfolio, IsDeterministicGivenItsSeed) {
  EXPECT_EQ(trials(settings({"portfolio"}, 3), 300), trials(settings({"portfolio"}, 3), 300));
  EXPECT_NE(trials(settings({"portfolio"}, 3), 300), trials(settings({"portfolio"}, 4), 300));
}

TEST(Portfolio, GivesEveryMemberTurns) {
  std::set<std::string> names;
  for (const std::string& trial : trials(settings({"portfolio"}), 2000)) {
    names.insert(trial.substr(0, trial.find(' ')));
  }
  EXPECT_EQ(names, (std::set<std::string>{"surw", "pos", "urw", "prefix", "guided", "resume"}));
}

TEST(Portfolio, OpensWithWhatFindsMostFailuresSoon) {
  const auto opening = [](const char* model) {
    driver::SearchSettings with = settings({"portfolio"});
    std::strcpy(with.options.memory_model, model);
    std::string names;
    for (const std::string& trial : trials(with, 9)) names += trial.substr(0, trial.find(' ') + 1);
    return names;
  };
  EXPECT_EQ(opening("sc"), "surw surw guided surw guided guided surw prefix prefix ");
  EXPECT_EQ(opening("tso"), "urw guided prefix guided urw prefix prefix surw guided ");
}

TEST(Portfolio, TakesItsTrialsFromTheOthersWhenASystematicOneIsOver) {
  const auto found = trials(settings({"chess", "random"}), 5000);
  EXPECT_EQ(found.size(), 5000u);
  EXPECT_EQ(found.back().substr(0, 6), "random");
}

TEST(Portfolio, EndsWithItsSystematicMembers) {
  EXPECT_LT(trials(settings({"chess", "delay", "sequential"}), 5000).size(), 5000u);
}

TEST(Portfolio, NumbersTrialsAcrossMembersAndNeverGivesTheSameSeedTwice) {
  Model model(sample());
  const auto search = driver::make_search(settings({"random", "pos"}));
  std::set<std::uint64_t> numbers;
  std::set<std::pair<std::string, std::uint64_t>> seeds;
  for (int i = 0; i < 200; ++i) {
    const auto trial = search->next();
    numbers.insert(trial->number);
    seeds.emplace(trial->options.strategy, trial->options.seed);
    model.run(*trial);
    search->observe(*trial, model.channel(), false);
  }
  EXPECT_EQ(numbers.size(), 200u);
  EXPECT_EQ(*numbers.rbegin(), 200u);
  EXPECT_EQ(seeds.size(), 200u);
}

TEST(Portfolio, CountsReadsFromPairs) {
  Model model(sample());
  const auto search = driver::make_search(settings({"random"}));
  for (int i = 0; i < 200; ++i) {
    const auto trial = search->next();
    model.run(*trial);
    search->observe(*trial, model.channel(), false);
  }
  // x by 0 read by 1 and 2, y by 1 read by 0 and 2; what a thread reads of its own is none.
  EXPECT_EQ(search->status().pairs, 4u);
  EXPECT_EQ(search->status().strategies.at(0).new_pairs, 4u);
}

/// The plans of `strategy` in a search of it and `other`, which has every other turn.
std::vector<std::vector<abi::PlanRecord>> plans_beside(const char* strategy, const char* other,
                                                       int count) {
  Model model(sample());
  const auto search = driver::make_search(settings({other, strategy}));
  std::vector<std::vector<abi::PlanRecord>> plans;
  for (int i = 0; i < count; ++i) {
    const auto trial = search->next();
    if (std::strcmp(trial->options.strategy, strategy) == 0) plans.push_back(trial->plan);
    model.run(*trial);
    search->observe(*trial, model.channel(), false);
  }
  return plans;
}

TEST(Portfolio, GuidedForbidsAtOnceWhatAnotherHasSeen) {
  const auto plans = plans_beside("guided", "random", 2);
  ASSERT_EQ(plans.size(), 1u);
  ASSERT_EQ(plans[0].size(), 1u);
  EXPECT_EQ(plans[0][0].kind, abi::DecisionKind::ReadsEarly);
}

TEST(Portfolio, WeighsThreadsByRunsOfWeightedStrategiesAlone) {
  const auto plans = plans_beside("urw", "random", 4);
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_TRUE(plans[0].empty()) << "a run of another strategy was counted";
  EXPECT_FALSE(plans[1].empty());
}

TEST(Portfolio, NarrowsPointsToWhatProvedShared) {
  driver::SearchSettings narrow = settings({"random"});
  std::strcpy(narrow.options.preempt_at, "shared");
  Model model(sample());
  const auto search = driver::make_search(narrow);
  std::set<abi::SiteId> quiet;
  for (int i = 0; i < 10; ++i) {
    const auto trial = search->next();
    for (const abi::PlanRecord& record : trial->plan) {
      if (record.kind == abi::DecisionKind::Quiet) quiet.insert(record.site);
    }
    model.run(*trial);
    search->observe(*trial, model.channel(), false);
  }
  // The third thread's own variable, and nothing else.
  EXPECT_EQ(quiet, (std::set<abi::SiteId>{abi::kFirstSite + 202, abi::kFirstSite + 203}));
}

TEST(Portfolio, NarrowsPointsToWhatRaced) {
  driver::SearchSettings narrow = settings({"random"});
  std::strcpy(narrow.options.preempt_at, "raced");
  ModelProgram program;  // the first variable has a lock, the second has none
  program.threads = {{{Step::Lock, 9}, {Step::Write, 0, 1}, {Step::Unlock, 9}, {Step::Write, 1, 1}},
                     {{Step::Lock, 9}, {Step::Read, 0}, {Step::Unlock, 9}, {Step::Read, 1}}};
  Model model(program);
  const auto search = driver::make_search(narrow);
  std::set<abi::SiteId> quiet;
  for (int i = 0; i < 10; ++i) {
    const auto trial = search->next();
    EXPECT_EQ(trial->options.overlook, 0u);  // of so few events
    for (const abi::PlanRecord& record : trial->plan) {
      if (record.kind == abi::DecisionKind::Quiet) quiet.insert(record.site);
    }
    model.run(*trial);
    search->observe(*trial, model.channel(), false);
  }
  EXPECT_EQ(quiet, (std::set<abi::SiteId>{abi::kFirstSite + 1, abi::kFirstSite + 101}));
}

void expect_rare_trials_are_followed(const std::vector<abi::PlanRecord>& absent) {
  Model model(sample());
  driver::SearchSettings with = settings({"rare"});
  with.absent = absent;
  const auto search = driver::make_search(with);
  int resumed = 0;
  for (int i = 0; i < 200; ++i) {
    const auto trial = search->next();
    const ModelRun run = model.run(*trial);
    EXPECT_FALSE(run.diverged);
    const auto decisions = model.channel().decisions();
    const std::span planned = std::span(trial->plan).subspan(absent.size());
    ASSERT_LE(planned.size(), decisions.size());
    for (std::size_t n = 0; n < planned.size(); ++n) {
      EXPECT_EQ(planned[n].target, model.channel().threads()[decisions[n].chosen].hash);
    }
    resumed += planned.empty() ? 0 : 1;
    search->observe(*trial, model.channel(), false);
  }
  EXPECT_GT(resumed, 40);
}

TEST(Portfolio, RareTrialsBeginLikeEarlierOnesAndAreFollowed) {
  expect_rare_trials_are_followed({});
}

TEST(Portfolio, RareTrialsAreFollowedAlsoWhereThreadsAreAbsent) {
  abi::PlanRecord absent{};
  absent.kind = abi::DecisionKind::Absent;
  absent.target = 12345;
  expect_rare_trials_are_followed({absent});
}

TEST(Portfolio, GivesALongSearchToWhatGoesOnFromRareRuns) {
  Model model(sample());
  const auto search = driver::make_search(settings({"rare", "random", "pct", "pos", "urw"}));
  const auto rare_of = [&](int trials) {
    const std::uint64_t before = search->status().strategies.at(0).trials;
    for (int i = 0; i < trials; ++i) {
      const auto trial = search->next();
      model.run(*trial);
      search->observe(*trial, model.channel(), false);
    }
    return search->status().strategies.at(0).trials - before;
  };
  rare_of(19'000);
  EXPECT_LT(rare_of(1'000), 300u);
  EXPECT_GT(rare_of(1'000), 400u);
}

TEST(Portfolio, RefusesNamesThatAreNotThereOrStandTwice) {
  EXPECT_THROW(driver::make_search(settings({"guess"})), Error);
  EXPECT_THROW(driver::make_search(settings({"random", "random"})), Error);
  EXPECT_THROW(driver::make_search(settings({"portfolio", "surw"})), Error);
}

}  // namespace
}  // namespace heddle::search_model
