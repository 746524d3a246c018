// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/common.h"

#include <gtest/gtest.h>

#include "tests/analysis/small_trace.h"

namespace heddle::analysis {
namespace {

using trace::Decision;
using trace::EventKind;

Decision decision(const std::string& thread, const std::string& site, std::uint32_t occurrence,
                  const std::string& target) {
  Decision it;
  it.thread = thread;
  it.site = site;
  it.occurrence = occurrence;
  it.target = target;
  return it;
}

/// t0 creates t0.1 (event 0) and t0.2 (1), does a, b, c (2, 3, 4), then t0.1 does x, y (5, 6).
Attempt run() {
  SmallTrace trace;
  trace.reads(0, "a", "v").reads(0, "b", "v").reads(0, "c", "v");
  trace.reads(1, "x", "v").reads(1, "y", "v");
  Attempt attempt;
  attempt.trace = trace.trace();
  attempt.number = 7;
  attempt.schedule.decisions = {decision("t0", "d", 1, "t0.1"), decision("t0.1", "y", 1, "t0.2")};
  return attempt;
}

std::uint64_t with_decisions(const Attempt& attempt, std::vector<Decision> decisions) {
  const Common common = in_common(attempt, decisions);
  EXPECT_EQ(common.attempt, 7u);
  return common.events;
}

TEST(InCommon, EverythingWhereTheDecisionsAreTheSame) {
  const Attempt attempt = run();
  EXPECT_EQ(with_decisions(attempt, attempt.schedule.decisions), 7u);
}

TEST(InCommon, WhereADecisionIsLackingWhatThereWasWhenItWasTaken) {
  const Attempt attempt = run();
  // t0.1 came to y when it had done x (5), which may not have been written down by then.
  EXPECT_EQ(with_decisions(attempt, {attempt.schedule.decisions[0]}), 5u);
  // t0 came to d after c (4), and never did it.
  EXPECT_EQ(with_decisions(attempt, {attempt.schedule.decisions[1]}), 4u);
  EXPECT_EQ(with_decisions(attempt, {}), 4u);
}

TEST(InCommon, WhereADecisionIsNewWhatThereWasWhenTheThreadCameThere) {
  Attempt attempt = run();
  std::vector<Decision> more = attempt.schedule.decisions;
  more.push_back(decision("t0", "b", 1, "t0.2"));
  EXPECT_EQ(with_decisions(attempt, more), 2u);
  more.back() = decision("t0.1", "x", 1, "t0.2");  // its first event: it is there from event 0 on
  EXPECT_EQ(with_decisions(attempt, more), 0u);
  more.back() = decision("t0", "b", 2, "t0.2");  // who knows whether it is what t0 comes to next
  EXPECT_EQ(with_decisions(attempt, more), 4u);
  more.back() = decision("t0.9", "b", 1, "t0.2");  // nobody came there
  EXPECT_EQ(with_decisions(attempt, more), 7u);
  more.back() = attempt.schedule.decisions[1];
  more.back().target = "t0";
  more.erase(more.begin() + 1);
  EXPECT_EQ(with_decisions(attempt, more), 5u);
}

std::uint64_t without(const Attempt& attempt, const LeftOut& left_out) {
  const std::vector<bool> nothing(attempt.trace.events.size());
  return in_common(attempt, missing_events(attempt.trace, left_out), nothing, 7).events;
}

TEST(InCommon, WithoutAThreadWhatThereWasBeforeItsCreatorCameToCreateIt) {
  SmallTrace small(0);
  Attempt attempt;
  attempt.trace = small.reads(0, "a", "v").reads(0, "b", "v").trace();
  attempt.trace.threads.push_back({"t0.1", 0});
  trace::Event create = attempt.trace.events.back();
  create.kind = EventKind::ThreadCreate;
  create.value = 1;
  trace::Event child = attempt.trace.events.back();
  child.thread = 1;
  attempt.trace.events.insert(attempt.trace.events.end(), {create, child});
  EXPECT_EQ(without(attempt, {{"t0.1"}, {}, {}}), 1u);
  EXPECT_EQ(without(attempt, {{}, {}, {}}), 4u);
  EXPECT_EQ(events_alone(attempt.trace), 1u);
}

/// t0: a, three iterations of a loop with one event each, asking before each whether it goes on.
Attempt looping() {
  Attempt attempt;
  attempt.trace.threads.push_back({"t0", trace::kNone});
  for (const char* site : {"a", "limit", "body", "f.loop.x"})
    attempt.trace.sites.push_back({site, "", {}});
  const auto add = [&](trace::SiteIndex site, EventKind kind, std::uint64_t value = 0) {
    trace::Event event;
    event.kind = kind;
    event.site = site;
    event.value = value;
    attempt.trace.events.push_back(event);
  };
  add(0, EventKind::Load);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    add(1, EventKind::Load);
    add(3, EventKind::IterationBegin, i);
    add(2, EventKind::Load);
    add(3, EventKind::IterationEnd, i);
  }
  return attempt;
}

TEST(InCommon, WithoutAnIterationWhatThereWasBeforeItBegan) {
  const Attempt attempt = looping();
  EXPECT_EQ(without(attempt, {{}, {{"t0", "f.loop.x", 1}}, {}}), 1u);
  EXPECT_EQ(without(attempt, {{}, {{"t0", "f.loop.x", 3}}, {}}), 8u);
}

TEST(InCommon, WhereIterationsAreLeftOutAlreadyWhatThereWasBeforeThem) {
  Attempt attempt = looping();
  // The second is left out in the run: whether the loop goes on is asked behind it, or not if the
  // third goes, too.
  attempt.trace.events.erase(attempt.trace.events.begin() + 6, attempt.trace.events.begin() + 9);
  attempt.schedule.skipped = {{"t0", "f.loop.x", 2, 2}};
  const LeftOut both{{}, {{"t0", "f.loop.x", 2}, {"t0", "f.loop.x", 3}}, {}};
  EXPECT_EQ(without(attempt, both), 4u);
}

TEST(InCommon, TwoWithoutTheSameThreadPartWhereTheyLeaveOutAnother) {
  // t0 creates t0.1 and t0.2, each after a read.
  Attempt attempt;
  for (const char* path : {"t0", "t0.1", "t0.2"}) attempt.trace.threads.push_back({path, 0});
  attempt.trace.sites.push_back({"a", "", {}});
  for (std::uint64_t i = 1; i <= 2; ++i) {
    trace::Event event;
    event.site = 0;
    event.kind = EventKind::Load;
    attempt.trace.events.insert(attempt.trace.events.end(), 3, event);
    event.kind = EventKind::ThreadCreate;
    event.value = i;
    attempt.trace.events.push_back(event);
  }
  const auto missing = [&](std::vector<std::string> threads) {
    return missing_events(attempt.trace, {std::move(threads), {}, {}});
  };
  const Common common = in_common(attempt, missing({"t0.1", "t0.2"}), missing({"t0.1"}), 9);
  EXPECT_EQ(common.attempt, 9u);
  EXPECT_EQ(common.events, 5u);  // without the creation of t0.1, and the read before that of t0.2
  EXPECT_EQ(in_common(attempt, missing({"t0.1"}), missing({"t0.2"}), 9).events, 2u);
}

}  // namespace
}  // namespace heddle::analysis
