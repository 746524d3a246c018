// SPDX-License-Identifier: Apache-2.0
//
// What the failure does not depend on is not seen any more: of a run by hand, and by the reducer of
// a toy program of one thread that fails as long as it reads "cause".
#include "analysis/reduce/overlook.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analysis/reduce/reduce.h"
#include "tests/analysis/small_trace.h"

namespace heddle::analysis {
namespace {

using trace::EventKind;

const std::vector<std::string> kSites = {"log", "cause", "log", "log", "count"};

/// `size` events of the trace, in the slice where `sites` has them.
std::vector<bool> slice(const trace::Trace& trace, const std::set<std::string>& sites) {
  std::vector<bool> needed;
  for (const trace::Event& event : trace.events) {
    needed.push_back(sites.contains(trace.sites[event.site].key));
  }
  return needed;
}

TEST(Overlook, SitesOfPlainAccessesThatAreNeverNeeded) {
  SmallTrace small(0);
  small.reads(0, "a", "v").writes(0, "b", "v").reads(0, "a", "v").reads(0, "c", "v");
  small.access(0, "lock", EventKind::MutexLock, "m", 0, 0);
  small.access(0, "atomic", EventKind::AtomicLoad, "v", 0, 4);
  trace::Trace trace = small.trace();
  std::vector<bool> needed(trace.events.size(), false);
  EXPECT_EQ(sites_to_overlook(trace, needed), (std::vector<std::string>{"a", "b", "c"}));
  needed[2] = true;  // of two visits of a, one is needed
  EXPECT_EQ(sites_to_overlook(trace, needed), (std::vector<std::string>{"b", "c"}));
  trace.outcome.site = trace.events[3].site;  // c, where memory was found to be freed
  EXPECT_EQ(sites_to_overlook(trace, needed), (std::vector<std::string>{"b"}));
}

class OneThread final : public ReducingOracle {
 public:
  bool needs_log = false;  // fails only as long as "log" is seen

  Attempt follow(const trace::Schedule& schedule) override {
    SmallTrace small(0);
    const auto sees = [&](const std::string& site) {
      return std::find(schedule.overlooked.begin(), schedule.overlooked.end(), site) ==
             schedule.overlooked.end();
    };
    for (const std::string& site : kSites) {
      if (sees(site)) small.reads(0, site, site);
    }
    Attempt attempt{small.trace(), schedule, {}, {}};
    if (needs_log && !sees("log")) return attempt;
    attempt.trace.outcome.kind = kind;
    attempt.trace.outcome.file = "toy.c";
    attempt.trace.outcome.line = 3;
    return attempt;
  }
  std::vector<Attempt> follow_all(std::span<const BoundedSchedule> schedules) override {
    std::vector<Attempt> attempts;
    for (const BoundedSchedule& bounded : schedules) attempts.push_back(follow(bounded.schedule));
    return attempts;
  }
  Attempt run_sequentially(const trace::Schedule& schedule, std::uint64_t, const Common&) override {
    Attempt attempt = follow(schedule);
    attempt.trace.outcome = {};
    return attempt;
  }
  Attempt wander(const trace::Schedule& schedule, std::uint64_t) override {
    return follow(schedule);
  }
  SearchResult search(const trace::Schedule&, const SearchRequest&) override { return {}; }

  Reduction reduced(const std::string& memory_model = "sc") {
    trace::Schedule schedule;
    schedule.memory_model = memory_model;
    ReduceOptions options;
    options.slice = [](const trace::Trace& trace) { return slice(trace, {"cause"}); };
    return reduce(*this, follow(schedule), options);
  }

  abi::FailureKind kind = abi::FailureKind::Assert;
};

TEST(Overlook, IsTheLastStepOfAReduction) {
  const Reduction reduction = OneThread().reduced();
  EXPECT_EQ(reduction.overlooking, Overlooking::Done);
  EXPECT_EQ(reduction.best.schedule.overlooked, (std::vector<std::string>{"log", "count"}));
  EXPECT_EQ(reduction.after.events, 1u);
  EXPECT_EQ(reduction.slice.events_removed, 4u);
  ASSERT_EQ(reduction.overlooked.size(), 1u);  // sites without a line are told together
  EXPECT_EQ(reduction.overlooked[0].accesses, 4u);
  EXPECT_EQ(reduction.overlooked[0].sites, 2u);
}

TEST(Overlook, IsTakenBackWhereTheFailureIsMissed) {
  OneThread oracle;
  oracle.needs_log = true;
  const Reduction reduction = oracle.reduced();
  EXPECT_EQ(reduction.overlooking, Overlooking::FailureIsMissed);
  EXPECT_TRUE(reduction.best.schedule.overlooked.empty());
  EXPECT_EQ(reduction.after.events, kSites.size());
}

TEST(Overlook, NotWhereStoresAreDelayedNorWhereAnythingMayMatter) {
  EXPECT_EQ(OneThread().reduced("tso").overlooking, Overlooking::DelayedStores);
  OneThread by_output;
  by_output.kind = abi::FailureKind::Exit;
  EXPECT_EQ(by_output.reduced().overlooking, Overlooking::NoSlice);
}

TEST(Overlook, WhatIsOverlookedStaysSoWhenItIsReducedAgain) {
  OneThread oracle;
  const Reduction first = oracle.reduced();
  ASSERT_EQ(first.best.schedule.overlooked.size(), 2u);
  const Reduction again = reduce(oracle, first.best, {});
  EXPECT_EQ(again.best.schedule.overlooked, first.best.schedule.overlooked);
  EXPECT_EQ(again.overlooking, Overlooking::NoSlice);
}

}  // namespace
}  // namespace heddle::analysis
