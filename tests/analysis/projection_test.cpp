// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/projection.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/reduce/relevance.h"

namespace heddle::analysis {
namespace {

using trace::EventKind;

/// A run written down as "thread site" pairs.
class Script {
 public:
  Script() {
    for (const char* path : {"t0", "t0.1", "t0.2", "t0.3"}) run.trace.threads.push_back({path, 0});
  }
  Script& event(trace::ThreadId thread, const std::string& site, EventKind kind = EventKind::Load,
                std::uint64_t value = 0, trace::ObjectIndex object = trace::kNone) {
    trace::Event event;
    event.thread = thread;
    event.kind = kind;
    event.value = value;
    event.object = object;
    event.site = static_cast<trace::SiteIndex>(run.trace.sites.size());
    run.trace.sites.push_back({site, "", {}});
    run.trace.events.push_back(event);
    return *this;
  }
  Attempt run;
};

std::string text(const trace::Schedule& schedule) {
  std::string result;
  for (const trace::Decision& decision : schedule.decisions) {
    result += decision.thread + " " + decision.site + "#" + std::to_string(decision.occurrence) +
              ">" + decision.target + " ";
  }
  return result;
}

TEST(Projection, AWayThroughAnAbsentThreadBecomesDirect) {
  Script script;
  script.event(1, "a").event(3, "c").event(2, "b").event(1, "a").event(2, "b");
  EXPECT_EQ(text(project(script.run, {{"t0.3"}, {}, {}}).schedule), "t0.1 a#2>t0.2 t0.2 b#2>t0.1 ");
}

TEST(Projection, ComingBackToTheSameThreadIsNoSwitch) {
  Script script;
  script.event(1, "a").event(3, "c").event(1, "a");
  EXPECT_EQ(text(project(script.run, {{"t0.3"}, {}, {}}).schedule), "");
}

TEST(Projection, WhereAnAccessIsOverlookedItIsDecidedBeforeWhatFollows) {
  Script script;
  script.event(1, "a").event(2, "b").event(1, "quiet").event(1, "a");
  LeftOut left_out;
  left_out.overlooked = {"quiet"};
  const Projected projected = project(script.run, left_out);
  EXPECT_EQ(projected.missing, (std::vector<bool>{false, false, true, false}));
  EXPECT_EQ(text(projected.schedule), "t0.1 a#2>t0.2 ");
  EXPECT_EQ(projected.schedule.decisions[0].ordinal, 2u);
  EXPECT_EQ(projected.schedule.overlooked, left_out.overlooked);
  EXPECT_EQ(left_out_of(projected.schedule).overlooked, left_out.overlooked);
}

TEST(Projection, CreatingAndJoiningAnAbsentThreadGoesToo) {
  Script script;
  script.event(0, "create", EventKind::ThreadCreate, 3).event(1, "a");
  script.event(0, "create", EventKind::ThreadCreate, 2).event(0, "x").event(1, "a");
  script.event(0, "join", EventKind::ThreadJoin, 3);
  const LeftOut left_out{{"t0.3"}, {}, {}};
  EXPECT_EQ(missing_events(script.run.trace, left_out),
            (std::vector<bool>{true, false, false, false, false, true}));
  // What was the second creation is now the first.
  EXPECT_EQ(text(project(script.run, left_out).schedule), "t0.1 a#2>t0 ");
}

TEST(Projection, AnIterationGoesWithAllInIt) {
  Script script;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    script.event(1, "loop", EventKind::IterationBegin, i).event(1, "a").event(2, "b");
    script.event(1, "a").event(1, "end", EventKind::IterationEnd, i);
  }
  const LeftOut left_out{{}, {{"t0.1", "loop", 1}, {"t0.1", "loop", 2}}, {}};
  const trace::Schedule schedule = project(script.run, left_out).schedule;
  ASSERT_EQ(schedule.skipped.size(), 1u);
  EXPECT_EQ(schedule.skipped[0], (trace::SkippedIterations{"t0.1", "loop", 1, 2}));
  EXPECT_EQ(text(schedule), "t0.2 b#3>t0.1 t0.1 a#2>t0.2 ");
  EXPECT_EQ(left_out_of(schedule).iterations, left_out.iterations);
}

TEST(Projection, NothingIsDecidedWhereAnIterationBegins) {
  Script script;
  script.event(1, "a").event(2, "b").event(1, "create", EventKind::ThreadCreate, 3);
  script.event(1, "loop", EventKind::IterationBegin, 1).event(1, "a");
  EXPECT_EQ(text(project(script.run, {{"t0.3"}, {}, {}}).schedule), "t0.1 a#2>t0.2 ");
}

TEST(Projection, AnIterationsEndsAloneAreNothingToGoThereFor) {
  Script script;
  script.event(1, "a").event(2, "b").event(1, "loop", EventKind::IterationBegin, 1);
  script.event(1, "create", EventKind::ThreadCreate, 3).event(2, "b").event(1, "a");
  EXPECT_EQ(text(project(script.run, {{"t0.3"}, {}, {}}).schedule), "t0.1 a#2>t0.2 ");
}

TEST(Projection, WhoDoesNothingElseIsWhereTheRunEnded) {
  // t0 went on to create another thread, which is absent, and was left waiting for a third.
  Script script;
  script.event(0, "a").event(1, "b").event(0, "create", EventKind::ThreadCreate, 3).event(2, "c");
  const auto decide = [&](const char* thread, const char* site, std::uint64_t ordinal,
                          const char* target) {
    trace::Decision decision;
    decision.thread = thread;
    decision.site = site;
    decision.ordinal = ordinal;
    decision.target = target;
    script.run.schedule.decisions.push_back(decision);
  };
  decide("t0", "create", 2, "t0.1");
  decide("t0.1", "<exit>", 2, "t0");
  decide("t0", "join", 3, "t0.2");
  EXPECT_EQ(text(project(script.run, {{"t0.3"}, {}, {}}).schedule),
            "t0 join#1>t0.1 t0.1 <exit>#1>t0.2 ");
}

TEST(Projection, AnIterationThatNeverEndedReachesToTheEnd) {
  Script script;
  script.event(1, "loop", EventKind::IterationBegin, 1).event(2, "b").event(1, "a");
  EXPECT_EQ(missing_events(script.run.trace, {{}, {{"t0.1", "loop", 1}}, {}}),
            (std::vector<bool>{true, false, true}));
}

TEST(Projection, OfLoopsOnlyWholeIterationsWithoutThreadsMayGo) {
  Script script;
  const std::string loop = "work+1.loop.abcd";
  script.event(1, loop, EventKind::IterationBegin, 1).event(1, "a");
  script.event(1, loop, EventKind::IterationEnd, 1);
  script.event(1, loop, EventKind::IterationBegin, 2).event(1, "j", EventKind::ThreadJoin, 2);
  script.event(1, loop, EventKind::IterationEnd, 2);
  script.event(1, loop, EventKind::IterationBegin, 3).event(1, "a");
  EXPECT_EQ(removable_iterations(script.run.trace), (std::vector<Iteration>{{"t0.1", loop, 1}}));
  EXPECT_EQ(iterations_of(script.run.trace).size(), 3u);
  // Who annotates a block knows what is in it.
  Script annotated;
  annotated.event(1, "block", EventKind::IterationBegin, 1).event(1, "j", EventKind::ThreadJoin, 2);
  EXPECT_EQ(removable_iterations(annotated.run.trace).size(), 1u);
}

TEST(Projection, WhatTheRunDidNotComeToIsBehindTheLoopsItIsIn) {
  const std::string loop = "work+1.loop.abcd";
  Script script;
  script.event(1, loop, EventKind::IterationBegin, 4).event(1, "a");
  script.event(2, loop, EventKind::IterationBegin, 1);
  script.event(2, loop, EventKind::IterationEnd, 1);                  // not in it any more
  script.event(3, loop, EventKind::IterationBegin, 2).event(3, "a");  // waits for another
  trace::Decision waits;
  waits.thread = "t0.3";
  waits.pending = EventKind::ThreadJoin;
  script.run.schedule.decisions.push_back(waits);
  const std::vector<Iteration> tails = unreached_tails(script.run);
  EXPECT_EQ(tails, (std::vector<Iteration>{{"t0.1", loop, 5}}));
  const trace::Schedule schedule = project(script.run, {{}, {}, tails}).schedule;
  ASSERT_EQ(schedule.skipped.size(), 1u);
  EXPECT_EQ(schedule.skipped[0].last, trace::SkippedIterations::kNoEnd);
  EXPECT_EQ(left_out_of(schedule).tails, tails);
}

TEST(Relevance, WhoseWritesTheFailingThreadReadComesFirst) {
  Script script;
  script.run.trace.objects.push_back({trace::ObjectKind::Static, "x", 8});
  script.event(3, "w", EventKind::Store, 0, 0).event(2, "b").event(1, "r", EventKind::Load, 0, 0);
  script.run.trace.outcome.kind = abi::FailureKind::Assert;
  script.run.trace.outcome.thread = 1;
  EXPECT_EQ(threads_by_relevance(script.run.trace),
            (std::vector<std::string>{"t0.1", "t0.3", "t0.2"}));
}

/// Rounds of a loop of t0, each with two threads created (where `creates`), the limit read between.
Script rounds(std::uint64_t count, bool creates) {
  Script script;
  std::vector<trace::Event>& events = script.run.trace.events;
  for (std::uint64_t number = 1; number <= count; ++number) {
    const std::uint64_t created = creates ? 2 * number : 0;
    script.event(0, "l.loop.x", EventKind::IterationBegin, number);
    events.back().site = events.front().site;
    events.back().size = number > 1 ? 1 : 0;
    events.back().aux = creates ? created - 2 : 0;
    script.event(0, "a").event(0, "l.loop.x", EventKind::IterationEnd, number);
    events.back().site = events.front().site;
    events.back().aux = created;
    script.event(0, "limit");
  }
  return script;
}

TEST(Projection, ThreadsThatALeftOutIterationWouldCreateAreCounted) {
  const Script script = rounds(3, true);
  const std::vector<Iteration> gone = removable_iterations(script.run.trace);
  ASSERT_EQ(gone.size(), 3u);
  const trace::Schedule schedule = project(script.run, {{}, {gone[0], gone[1]}, {}}).schedule;
  ASSERT_EQ(schedule.skipped.size(), 1u);
  EXPECT_EQ(schedule.skipped[0], (trace::SkippedIterations{"t0", "l.loop.x", 1, 2, 2, true}));
  EXPECT_EQ(left_out_of(schedule).iterations[1].creates, 2);
}

TEST(Projection, IterationsThatCreateOnlyThreadsThatGoMayGo) {
  Script script;
  for (std::uint64_t number = 1; number <= 2; ++number) {
    script.event(0, "l.loop.x", EventKind::IterationBegin, number);
    script.event(0, "create", EventKind::ThreadCreate, number);
    script.event(0, "l.loop.x", EventKind::IterationEnd, number);
  }
  EXPECT_TRUE(removable_iterations(script.run.trace).empty());
  EXPECT_EQ(removable_iterations(script.run.trace, {"t0.2"}),
            (std::vector<Iteration>{{"t0", "l.loop.x", 2}}));
}

TEST(Projection, WhetherALoopGoesOnIsNotAskedWithinWhatIsLeftOut) {
  const Script script = rounds(4, false);
  const std::vector<Iteration> all = iterations_of(script.run.trace);
  const LeftOut left_out{{}, {all[1], all[2]}, {}};
  const std::vector<bool> missing = missing_events(script.run.trace, left_out);
  // Four events a round, the limit last.
  EXPECT_EQ(missing, (std::vector<bool>{false, false, false, false, true, true, true, true,  //
                                        true, true, true, false, false, false, false, false}));
  const trace::Schedule schedule = project(script.run, left_out).schedule;
  EXPECT_EQ(schedule.skipped,
            (std::vector<trace::SkippedIterations>{{"t0", "l.loop.x", 2, 3, 0, true}}));
  // Of another entry of the loop nothing is known.
  std::vector<Iteration> entered = {all[1], all[2], all[3]};
  entered[1].again = false;
  EXPECT_EQ(project(script.run, {{}, entered, {}}).schedule.skipped,
            (std::vector<trace::SkippedIterations>{{"t0", "l.loop.x", 2, 3, 0, false},
                                                   {"t0", "l.loop.x", 4, 4, 0, false}}));
}

TEST(Relevance, WhatIsNextToTheFailureInTheGraphOfDependences) {
  Script script;
  for (const char* name : {"x", "y"}) {
    script.run.trace.objects.push_back({trace::ObjectKind::Static, name, 8});
  }
  const auto round = [&](trace::ThreadId thread, std::uint64_t number, EventKind kind,
                         trace::ObjectIndex object, bool ends = true) {
    script.event(thread, "l.loop.x", EventKind::IterationBegin, number);
    script.event(thread, "access", kind, 0, object);
    if (ends) script.event(thread, "l.loop.x", EventKind::IterationEnd, number);
  };
  round(1, 1, EventKind::Store, 1);
  round(1, 2, EventKind::Store, 0);  // what the failing thread reads
  round(1, 3, EventKind::Store, 1);
  round(2, 1, EventKind::Load, 1);
  round(2, 2, EventKind::Load, 0, false);
  script.run.trace.outcome.kind = abi::FailureKind::Assert;
  script.run.trace.outcome.thread = 2;
  const Neighbourhood found = neighbourhood(script.run.trace, 3);
  EXPECT_EQ(found.iterations,
            (std::vector<Iteration>{{"t0.1", "l.loop.x", 2}, {"t0.2", "l.loop.x", 2}}));
  EXPECT_EQ(found.threads, (std::vector<std::string>{"t0", "t0.1", "t0.2"}));
}

TEST(Relevance, WhatAThreadWroteOverItselfMayStillBeAnothers) {
  Script script;
  script.run.trace.objects.push_back({trace::ObjectKind::Static, "best", 8});
  script.event(1, "w", EventKind::Store, 0, 0);
  for (std::uint64_t i = 1; i <= 5; ++i) {
    script.event(2, "l.loop.x", EventKind::IterationBegin, i).event(2, "w", EventKind::Store, 0, 0);
    script.event(2, "l.loop.x", EventKind::IterationEnd, i);
  }
  script.event(0, "r", EventKind::Load, 0, 0);
  script.run.trace.outcome.kind = abi::FailureKind::Assert;
  script.run.trace.outcome.thread = 0;
  const auto threads = [&](Overwritten overwritten) {
    return neighbourhood(script.run.trace, 2, overwritten).threads;
  };
  EXPECT_EQ(threads(Overwritten::IsGone), (std::vector<std::string>{"t0", "t0.2"}));
  EXPECT_EQ(threads(Overwritten::ByItself), (std::vector<std::string>{"t0", "t0.1", "t0.2"}));
  // With the iteration in which it did so first, however many came since.
  EXPECT_EQ(neighbourhood(script.run.trace, 2, Overwritten::ByItself).iterations,
            (std::vector<Iteration>{
                {"t0.2", "l.loop.x", 1}, {"t0.2", "l.loop.x", 4}, {"t0.2", "l.loop.x", 5}}));
}

}  // namespace
}  // namespace heddle::analysis
