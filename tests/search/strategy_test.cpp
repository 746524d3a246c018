// SPDX-License-Identifier: Apache-2.0
//
// Each strategy by the property it is made for, on models small enough to count.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "runtime/schedule/thread_weights.h"
#include "tests/search/model_program.h"

namespace heddle::search_model {
namespace {

constexpr int kRuns = 4000;

std::string order_of(const ModelRun& run) {
  std::string text;
  for (const abi::ThreadIndex thread : run.order) text += static_cast<char>('0' + thread);
  return text;
}

abi::PlanRecord record(abi::DecisionKind kind, abi::SiteId site) {
  abi::PlanRecord result{};
  result.kind = kind;
  result.site = site;
  return result;
}

abi::PlanRecord weight(std::uint64_t thread, std::uint64_t parent, std::uint32_t count) {
  abi::PlanRecord result{};
  result.kind = abi::DecisionKind::Weight;
  result.thread = thread;
  result.target = parent;
  result.occurrence = count;
  return result;
}

/// Thread 0 does `first` operations on its own, thread 1 `second`.
ModelProgram lengths(std::size_t first, std::size_t second) {
  ModelProgram program;
  program.threads = {std::vector<Step>(first, {Step::Write, 0, 1}),
                     std::vector<Step>(second, {Step::Write, 1, 1})};
  return program;
}

const char* const kSeeded[] = {"random", "pct", "pos", "urw", "surw", "guided", "resume", "delays"};

TEST(Strategies, TheSameSeedGivesTheSameRunAndAnotherSeedMostlyAnother) {
  Model model(lengths(6, 6));
  for (const char* name : kSeeded) {
    std::set<std::string> orders;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      const std::string order = order_of(model.run(options(name, seed), {}));
      EXPECT_EQ(order, order_of(model.run(options(name, seed), {}))) << name;
      orders.insert(order);
    }
    EXPECT_GE(orders.size(), 2u) << name;
  }
}

TEST(Strategies, EndWhereOneThreadSpinsUntilAnotherHasWritten) {
  ModelProgram program;
  program.threads = {{{Step::AwaitValue, 0, 1}}, {{Step::AwaitValue, 0, 1}}, {{Step::Write, 0, 1}}};
  Model model(program);
  for (const char* name :
       {"random", "pct", "pos", "urw", "surw", "guided", "resume", "sequential"}) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      EXPECT_FALSE(model.run(options(name, seed), {}).endless) << name << " seed " << seed;
    }
  }
}

TEST(Strategies, ThereIsNoneByAnotherName) {
  EXPECT_EQ(runtime::find_strategy("chess"), nullptr);  // a search, not a strategy of one run
  EXPECT_EQ(runtime::find_strategy(""), nullptr);
}

// n threads, k steps, a bug of depth d: found with probability at least 1 / (n k^(d-1)).
TEST(Pct, MeetsABugOfDepthTwoAtLeastAsOftenAsItsPaperPromises) {
  ModelProgram program;
  program.threads = {std::vector<Step>(19, {Step::Write, 1, 1}), {{Step::Read, 0}}};
  program.threads[0].insert(program.threads[0].begin() + 10, {Step::Write, 0, 1});
  program.threads[0].insert(program.threads[0].begin() + 11, {Step::Write, 0, 2});
  // Only when the reader comes exactly between the two writes.
  program.fails = [](const auto& reads) { return reads[1][0] == 1; };
  Model model(program);
  int found = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    abi::Options chosen = options("pct", seed);
    chosen.depth = 2;
    chosen.length = 22;
    found += model.run(chosen, {}).failed;
  }
  EXPECT_GE(found, kRuns / (2 * 22) * 3 / 4);
}

TEST(Pct, OfDepthOneNeverSwitchesBack) {
  Model model(lengths(5, 5));
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    abi::Options chosen = options("pct", seed);
    chosen.depth = 1;
    const std::string order = order_of(model.run(chosen, {}));
    EXPECT_TRUE(order == "000000111111" || order == "111111000000") << order;
  }
}

// The paper's motivation: the two orders of one race are equally likely although one of the
// threads comes to it after many other operations, where a random walk hardly ever tries one.
TEST(Pos, TriesBothOrdersOfARaceThatLiesLateInOneThread) {
  ModelProgram program;
  program.threads = {std::vector<Step>(12, {Step::Write, 1, 1}), {{Step::Write, 0, 1}}};
  program.threads[0].push_back({Step::Read, 0});
  Model model(program);
  std::map<std::string, int> early;
  for (const char* name : {"pos", "random"}) {
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
      early[name] += model.run(options(name, seed), {}).reads[0][0] == 0;
    }
  }
  EXPECT_LT(early["random"], kRuns / 500);
  EXPECT_GT(early["pos"], kRuns / 50);
}

TEST(Urw, MakesAllInterleavingsEquallyLikely) {
  Model model(lengths(1, 5));  // with their ends: 2 and 6 events, 28 interleavings
  const std::uint64_t child = abi::path_hash(abi::kMainThreadHash, 1);
  const std::vector<abi::PlanRecord> plan = {weight(abi::kMainThreadHash, 0, 2),
                                             weight(child, abi::kMainThreadHash, 6)};
  std::map<std::string, int> orders;
  std::map<std::string, int> random_orders;
  for (std::uint64_t seed = 1; seed <= 28 * 200; ++seed) {
    ++orders[order_of(model.run(options("urw", seed), plan))];
    ++random_orders[order_of(model.run(options("random", seed), {}))];
  }
  const auto rarest = [](const std::map<std::string, int>& counts) {
    int least = kRuns * 100;
    for (const auto& [order, count] : counts) least = std::min(least, count);
    return counts.size() == 28 ? least : 0;
  };
  ASSERT_EQ(orders.size(), 28u);
  EXPECT_GT(rarest(orders), 140);  // 200 expected, standard deviation 14
  EXPECT_LT(rarest(random_orders), 100);
}

TEST(Surw, MakesAllOrdersOfSelectedOperationsEquallyLikely) {
  ModelProgram program;
  program.threads = {std::vector<Step>(12, {Step::Write, 1, 1}), {{Step::Write, 0, 1}}};
  program.threads[0].push_back({Step::Read, 0});
  Model model(program);
  const std::uint64_t child = abi::path_hash(abi::kMainThreadHash, 1);
  const std::vector<abi::PlanRecord> plan = {
      record(abi::DecisionKind::Select, abi::kFirstSite + 12),
      record(abi::DecisionKind::Select, abi::kFirstSite + 100), weight(abi::kMainThreadHash, 0, 1),
      weight(child, abi::kMainThreadHash, 1)};
  int early = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    early += model.run(options("surw", seed), plan).reads[0][0] == 0;
  }
  EXPECT_NEAR(early, kRuns / 2, 5 * std::sqrt(kRuns) / 2);
}

// The thread that is meant is drawn while its child, which has half of what is to come, is not
// there yet: it must not come first for that.
TEST(Surw, CountsWhatAThreadHasYetToCreateAsItsOwnUntilThen) {
  runtime::ThreadWeights weights;
  const std::uint64_t child = abi::path_hash(abi::kMainThreadHash, 1);
  const std::vector<abi::PlanRecord> plan = {weight(abi::kMainThreadHash, 0, 1),
                                             weight(child, abi::kMainThreadHash, 3)};
  weights.begin_run({plan.data(), plan.size()});
  weights.meet(0, abi::kMainThreadHash);
  EXPECT_EQ(weights.left(0), 4u);
  const auto share = weights.meet(1, child);
  EXPECT_EQ(share.from, 0);
  EXPECT_EQ(share.taken, 3u);
  EXPECT_EQ(share.of, 4u);
  EXPECT_EQ(weights.left(0), 1u);
  EXPECT_EQ(weights.left(1), 3u);
}

TEST(Guided, BringsAboutThePairItIsAskedFor) {
  ModelProgram program;
  program.threads = {
      std::vector<Step>(12, {Step::Write, 1, 1}), {{Step::Write, 0, 1}}, {{Step::Write, 0, 2}}};
  program.threads[0].push_back({Step::Read, 0});
  Model model(program);
  for (const std::uint64_t value : {1u, 2u}) {
    abi::PlanRecord wish = record(abi::DecisionKind::ReadsFrom, abi::kFirstSite + 12);
    wish.target = abi::kFirstSite + 100 * value;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      EXPECT_EQ(model.run(options("guided", seed), {wish}).reads[0][0], value) << seed;
    }
  }
}

TEST(Guided, LetsAReadComeBeforeTheWritesItIsToMiss) {
  ModelProgram program;  // the reader has a long way to its read, whoever writes has none
  program.threads = {
      std::vector<Step>(12, {Step::Write, 1, 1}), {{Step::Write, 0, 1}}, {{Step::Write, 0, 2}}};
  program.threads[0].push_back({Step::Read, 0});
  Model model(program);
  abi::PlanRecord wish = record(abi::DecisionKind::ReadsEarly, abi::kFirstSite + 12);
  wish.target = abi::kFirstSite + 100;
  int second = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::uint64_t value = model.run(options("guided", seed), {wish}).reads[0][0];
    EXPECT_NE(value, 1u) << seed;
    second += value == 2;  // that write nobody asked to be late
  }
  EXPECT_GT(second, 50);
}

TEST(Guided, GivesUpAnEarlyReadThatNeedsTheWrite) {
  ModelProgram program;
  program.threads = {{{Step::Write, 0, 1}, {Step::Read, 0}}};
  Model model(program);
  abi::PlanRecord wish = record(abi::DecisionKind::ReadsEarly, abi::kFirstSite + 1);
  wish.target = abi::kFirstSite;
  const ModelRun run = model.run(options("guided"), {wish});
  EXPECT_FALSE(run.endless);
  EXPECT_EQ(run.reads[0][0], 1u);
}

TEST(Delays, ThreadsRunSideBySideAndAreHeldUpNowAndThen) {
  Model model(lengths(40, 40));
  int close = 0;
  int far = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    // By how much the one is ahead of the other at most.
    int ahead = 0;
    int most = 0;
    for (const abi::ThreadIndex thread : model.run(options("delays", seed), {}).order) {
      ahead += thread == 0 ? 1 : -1;
      most = std::max(most, std::abs(ahead));
    }
    close += most <= 10;
    far += most >= 30;
  }
  EXPECT_GT(close, 0);
  EXPECT_GT(far, 20);
  EXPECT_LT(far, 180);
}

TEST(Delays, WhoSleepsIsNotBackBeforeTheOthersHaveDoneSomething) {
  // One goes round a sleep as often as the other does anything at all.
  ModelProgram program = lengths(40, 0);
  program.threads[1].assign(40, {Step::Sleep});
  Model model(program);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string order = order_of(model.run(options("delays", seed), {}));
    const auto end = order.rfind('0');  // of the one that works
    const auto sleeps = std::count(order.begin(), order.begin() + static_cast<long>(end), '1');
    EXPECT_LE(sleeps, 2) << order;
  }
}

TEST(Resume, FollowsItsPrefixThenGoesOnInManyWays) {
  Model model(lengths(4, 4));
  std::vector<abi::PlanRecord> plan(4);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    plan[i].kind = abi::DecisionKind::Thread;
    plan[i].target = i % 2 == 0 ? abi::path_hash(abi::kMainThreadHash, 1) : abi::kMainThreadHash;
  }
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::string order = order_of(model.run(options("resume", seed), plan));
    EXPECT_EQ(order.substr(0, 4), "1010");
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 5u);
}

TEST(Resume, GoesOnWhereItsPrefixCannotBeFollowed) {
  Model model(lengths(4, 4));
  abi::PlanRecord nobody{};
  nobody.kind = abi::DecisionKind::Thread;
  nobody.target = 77;
  const ModelRun run = model.run(options("resume"), {nobody});
  EXPECT_FALSE(run.diverged);
  EXPECT_EQ(run.order.size(), 10u);
}

TEST(Guided, GivesUpWhatCannotBe) {
  ModelProgram program;
  program.threads = {{{Step::Read, 0}}, {{Step::Write, 1, 1}}};
  Model model(program);
  abi::PlanRecord wish = record(abi::DecisionKind::ReadsFrom, abi::kFirstSite);
  wish.target = abi::kFirstSite + 77;
  const ModelRun run = model.run(options("guided"), {wish});
  EXPECT_FALSE(run.endless);
  EXPECT_EQ(run.order.size(), 4u);
}

}  // namespace
}  // namespace heddle::search_model
