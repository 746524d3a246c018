// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/loop_stacks.h"

#include <gtest/gtest.h>

#include "tests/analysis/small_trace.h"

namespace heddle::analysis {
namespace {

/// The loops around each access, "outer#entry:iteration inner#entry:iteration"; "-" for none.
std::vector<std::string> stacks_of(const SmallTrace& small) {
  const trace::Trace& trace = small.trace();
  const LoopStacks loops(trace);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events[i].kind == trace::EventKind::ThreadCreate) continue;
    if (loops.at(i) == LoopStacks::kUnknown) {
      result.push_back("?");
      continue;
    }
    std::string text;
    for (const LoopStacks::Round& round : loops.stack(loops.at(i))) {
      text += (text.empty() ? "" : " ") + trace.sites[round.loop].key + "#" +
              std::to_string(round.entry) + ":" + std::to_string(round.iteration);
    }
    result.push_back(text.empty() ? "-" : text);
  }
  return result;
}

using Stacks = std::vector<std::string>;

TEST(LoopStacks, RoundsOfOneLoop) {
  EXPECT_EQ(stacks_of(SmallTrace()
                          .reads(1, "before", "x")
                          .enters(1, "l")
                          .reads(1, "in", "x")
                          .again(1, "l")
                          .reads(1, "in", "x")
                          .leaves(1, "l")
                          .reads(1, "after", "x")),
            (Stacks{"-", "l#1:1", "l#1:2", "-"}));
}

TEST(LoopStacks, NestedLoopsAreEnteredAnewInEachRound) {
  EXPECT_EQ(stacks_of(SmallTrace()
                          .enters(1, "o")
                          .enters(1, "i")
                          .again(1, "i")
                          .reads(1, "in", "x")
                          .leaves(1, "i")
                          .enters(1, "i")
                          .reads(1, "in", "x")
                          .leaves(1, "i")
                          .again(1, "o")
                          .enters(1, "i")
                          .reads(1, "in", "x")),
            (Stacks{"o#1:1 i#1:2", "o#1:1 i#2:1", "o#1:2 i#1:1"}));
}

/// A break or an exception out of both: the driver says so of each, from the innermost.
TEST(LoopStacks, LeavingTwoLoopsAtOnce) {
  EXPECT_EQ(stacks_of(SmallTrace()
                          .enters(1, "o")
                          .enters(1, "i")
                          .leaves(1, "i")
                          .leaves(1, "o")
                          .reads(1, "after", "x")
                          .enters(1, "o")
                          .reads(1, "in", "x")),
            (Stacks{"-", "o#2:1"}));
}

TEST(LoopStacks, EachThreadHasItsOwn) {
  EXPECT_EQ(stacks_of(SmallTrace()
                          .enters(1, "l")
                          .reads(2, "a", "x")
                          .enters(2, "l")
                          .again(2, "l")
                          .reads(1, "a", "x")
                          .reads(2, "a", "x")),
            (Stacks{"-", "l#1:1", "l#1:2"}));
}

TEST(LoopStacks, WhatWasLostIsUnknown) {
  EXPECT_EQ(
      stacks_of(SmallTrace().reads(1, "a", "x").enters(1, "l").reads(1, "a", "x").loses_steps()),
      (Stacks{"-", "?"}));
}

TEST(RoundTable, TellsRoundsApartByTheOutermostLoopThatDiffers) {
  RoundTable rounds;
  const auto outer = [&](unsigned entry, unsigned i) { return rounds.intern(0, "o", entry, i); };
  const auto inner = [&](std::uint32_t around, unsigned i) {
    return rounds.intern(around, "i", 1, i);
  };
  EXPECT_EQ(rounds.compare(inner(outer(1, 1), 3), inner(outer(1, 1), 3)), 0);
  EXPECT_EQ(rounds.compare(inner(outer(1, 1), 3), inner(outer(1, 1), 4)), -1);
  EXPECT_EQ(rounds.compare(inner(outer(1, 2), 3), inner(outer(1, 1), 4)), 1);
  EXPECT_EQ(rounds.compare(outer(2, 1), outer(1, 5)), 1);  // entered later
  // One is deeper, or in another loop: the rounds that both are in are the same.
  EXPECT_EQ(rounds.compare(inner(outer(1, 1), 3), outer(1, 1)), 0);
  EXPECT_EQ(rounds.compare(inner(outer(1, 1), 3), rounds.intern(outer(1, 1), "j", 1, 9)), 0);
  EXPECT_EQ(rounds.compare(0, outer(1, 1)), 0);
}

}  // namespace
}  // namespace heddle::analysis
