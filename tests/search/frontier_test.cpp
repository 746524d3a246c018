// SPDX-License-Identifier: Apache-2.0
#include "driver/search/frontier.h"

#include <gtest/gtest.h>

namespace heddle::driver {
namespace {

Branch costing(std::uint32_t cost) {
  Branch branch;
  branch.cost = cost;
  return branch;
}

Footprint write_to(std::uint64_t object) {
  Footprint footprint;
  footprint.object = object;
  footprint.end = 8;
  footprint.memory = Touch::Write;
  return footprint;
}

TEST(Frontier, GivesTheCheapestFirst) {
  Frontier frontier;
  for (const std::uint32_t cost : {2u, 0u, 1u}) frontier.add(costing(cost));
  for (const std::uint32_t cost : {0u, 1u, 2u}) EXPECT_EQ(frontier.take().cost, cost);
  EXPECT_EQ(frontier.lowest_cost(), Frontier::kNone);
}

TEST(Frontier, GivesTheAnswersOfABranchOneByOne) {
  Frontier frontier;
  Branch branch = costing(1);
  branch.first = 64;
  branch.others = 0b1010;
  frontier.add(branch);
  frontier.add(costing(1));
  EXPECT_EQ(frontier.waiting_at_lowest(), 3u);
  for (const std::uint32_t answer : {65u, 67u, 0u}) EXPECT_EQ(frontier.take().chosen, answer);
  EXPECT_EQ(frontier.lowest_cost(), Frontier::kNone);
}

TEST(Frontier, ForgetsTheDearestWhenFullAndSaysSo) {
  Frontier frontier(/*most=*/2);
  frontier.add(costing(1));
  frontier.add(costing(3));
  EXPECT_EQ(frontier.forgotten_cost(), Frontier::kNone);
  frontier.add(costing(1));  // instead of the one of 3
  EXPECT_EQ(frontier.forgotten_cost(), 3u);
  frontier.add(costing(2));  // none is dearer
  EXPECT_EQ(frontier.forgotten_cost(), 2u);
  EXPECT_EQ(frontier.waiting_at_lowest(), 2u);
  frontier.take();
  frontier.take();
  EXPECT_EQ(frontier.lowest_cost(), Frontier::kNone);
  frontier.add(costing(1));  // there is room again
  EXPECT_EQ(frontier.lowest_cost(), 1u);
  EXPECT_EQ(frontier.forgotten_cost(), 2u);
}

TEST(Frontier, PutsOffPreemptionsBeforeWhatNobodyElseUses) {
  constexpr std::uint64_t kOne = 1, kOther = 2;
  Frontier frontier;
  frontier.note(write_to(7), kOne);
  frontier.add_preemption(costing(1), kOne, write_to(7));
  frontier.release_deferred();
  EXPECT_EQ(frontier.lowest_cost(), Frontier::kNone);
  frontier.note(write_to(7), kOther);
  frontier.release_deferred();
  EXPECT_EQ(frontier.lowest_cost(), 1u);
}

}  // namespace
}  // namespace heddle::driver
