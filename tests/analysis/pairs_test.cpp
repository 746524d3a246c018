// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/pairs.h"

#include <gtest/gtest.h>

#include "tests/analysis/small_trace.h"

namespace heddle::analysis {
namespace {

/// "a->b" for each pair, by site.
std::vector<std::string> pairs_of(const SmallTrace& small) {
  const Accesses accesses(small.trace());
  std::vector<std::string> result;
  for (const PairInstance& pair : immediate_pairs(accesses)) {
    result.push_back(accesses.point(pair.first).site + "->" + accesses.point(pair.second).site);
  }
  return result;
}

using Pairs = std::vector<std::string>;

TEST(Pairs, EachKindOfDependenceBetweenTwoThreads) {
  EXPECT_EQ(pairs_of(SmallTrace().writes(1, "a", "x").reads(2, "b", "x")), (Pairs{"a->b"}));
  EXPECT_EQ(pairs_of(SmallTrace().reads(1, "a", "x").writes(2, "b", "x")), (Pairs{"a->b"}));
  EXPECT_EQ(pairs_of(SmallTrace().writes(1, "a", "x").writes(2, "b", "x")), (Pairs{"a->b"}));
  EXPECT_EQ(pairs_of(SmallTrace().reads(1, "a", "x").reads(2, "b", "x")), (Pairs{}));
  EXPECT_EQ(pairs_of(SmallTrace().writes(1, "a", "x").reads(1, "b", "x")), (Pairs{}));
  EXPECT_EQ(pairs_of(SmallTrace().writes(1, "a", "x").reads(2, "b", "y")), (Pairs{}));
}

TEST(Pairs, OnlyTheImmediateOnes) {
  // LOCON's Table 1, shape 6: what a passing run shows is the last read before the write ...
  EXPECT_EQ(pairs_of(SmallTrace().reads(1, "a", "x").reads(1, "c", "x").writes(2, "b", "x")),
            (Pairs{"c->b"}));
  // ... or the first one after it; the failing run has both.
  EXPECT_EQ(pairs_of(SmallTrace().writes(2, "b", "x").reads(1, "a", "x").reads(1, "c", "x")),
            (Pairs{"b->a"}));
  EXPECT_EQ(pairs_of(SmallTrace().reads(1, "a", "x").writes(2, "b", "x").reads(1, "c", "x")),
            (Pairs{"a->b", "b->c"}));
  // Shape 4: the read stands between the two writes.
  EXPECT_EQ(pairs_of(SmallTrace().writes(1, "a", "x").reads(1, "c", "x").writes(2, "b", "x")),
            (Pairs{"c->b"}));
  // A thread that has read what it overwrites depends through that read.
  EXPECT_EQ(pairs_of(SmallTrace().writes(1, "a", "x").reads(2, "b", "x").writes(2, "c", "x")),
            (Pairs{"a->b"}));
  // A write hides what was before it.
  EXPECT_EQ(pairs_of(SmallTrace(3).writes(1, "a", "x").writes(3, "m", "x").reads(2, "b", "x")),
            (Pairs{"a->m", "m->b"}));
}

TEST(Pairs, TheReadsOfAThirdThreadHideNothing) {
  EXPECT_EQ(pairs_of(SmallTrace(3).writes(1, "a", "x").reads(3, "m", "x").writes(2, "b", "x")),
            (Pairs{"a->m", "a->b", "m->b"}));
  EXPECT_EQ(pairs_of(SmallTrace().writes(1, "a", "x").reads(1, "m", "x").reads(2, "b", "x")),
            (Pairs{"a->b"}));
}

TEST(Pairs, OverlapIsBytePrecise) {
  EXPECT_EQ(pairs_of(SmallTrace().writes(1, "a", "x", 0, 4).reads(2, "b", "x", 4, 4)), (Pairs{}));
  EXPECT_EQ(pairs_of(SmallTrace().writes(1, "a", "x", 0, 4).reads(2, "b", "x", 3, 4)),
            (Pairs{"a->b"}));
  EXPECT_EQ(pairs_of(SmallTrace()
                         .writes(1, "a", "x", 0, 2)
                         .writes(1, "m", "x", 2, 2)
                         .reads(2, "b", "x", 0, 8)),
            (Pairs{"a->b", "m->b"}));
  EXPECT_EQ(pairs_of(SmallTrace()
                         .writes(1, "a", "x", 0, 8)
                         .writes(1, "m", "x", 2, 2)
                         .reads(2, "b", "x", 0, 8)),
            (Pairs{"a->b", "m->b"}));
}

TEST(Pairs, WhatTheLifeOfThreadsForcesIsNoPair) {
  EXPECT_EQ(pairs_of(SmallTrace().writes(1, "a", "x").joins(0, 1).reads(0, "b", "x")), (Pairs{}));
  EXPECT_EQ(pairs_of(SmallTrace().writes(1, "a", "x").reads(0, "b", "x")), (Pairs{"a->b"}));
}

TEST(Pairs, FreeingTouchesTheWholeObject) {
  SmallTrace small;
  small.access(1, "free", trace::EventKind::HeapFree, "h", 0, 0).reads(2, "use", "h", 40, 4);
  EXPECT_EQ(pairs_of(small), (Pairs{"free->use"}));
}

TEST(Pairs, ANotificationWritesWhatAWaitReads) {
  SmallTrace small;
  small.access(1, "signal", trace::EventKind::CondSignal, "c", 0, 0)
      .access(2, "wait", trace::EventKind::CondWait, "c", 0, 0);
  EXPECT_EQ(pairs_of(small), (Pairs{"signal->wait"}));
}

TEST(Accesses, PointsNameTheSameEventInEveryRun) {
  SmallTrace small;
  small.reads(1, "a", "x").reads(1, "a", "x").reads(2, "a", "x");
  const Accesses accesses(small.trace());
  EXPECT_EQ(accesses.point(3), (Point{"t0.1", "a", 2}));
  EXPECT_EQ(accesses.find({"t0.1", "a", 2}), 3u);
  EXPECT_EQ(accesses.find({"t0.1", "a", 3}), std::nullopt);
  EXPECT_EQ(accesses.find({"t0.9", "a", 1}), std::nullopt);
}

}  // namespace
}  // namespace heddle::analysis
