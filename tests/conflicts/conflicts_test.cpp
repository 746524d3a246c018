// SPDX-License-Identifier: Apache-2.0
//
// What counts as a conflict, and what experiments with its orders conclude, without a program.
#include <gtest/gtest.h>

#include <functional>

#include "analysis/conflicts/detect.h"
#include "analysis/conflicts/try_orders.h"
#include "report/conflict_json.h"
#include "tests/analysis/small_trace.h"

namespace heddle::analysis {
namespace {

using trace::EventKind;

/// A SmallTrace whose sites are on lines, with synchronisation.
class History : public SmallTrace {
 public:
  using SmallTrace::SmallTrace;
  History& does(trace::ThreadId thread, const std::string& site, EventKind kind,
                const std::string& object) {
    access(thread, site, kind, object, 0, 0);
    return *this;
  }
  History& read(trace::ThreadId thread, const std::string& site, const std::string& variable) {
    reads(thread, site, variable);
    return *this;
  }
  History& write(trace::ThreadId thread, const std::string& site, const std::string& variable) {
    writes(thread, site, variable);
    return *this;
  }
  History& lock(trace::ThreadId thread, const std::string& mutex,
                const std::string& site = "lock") {
    return does(thread, site, EventKind::MutexLock, mutex);
  }
  History& unlock(trace::ThreadId thread, const std::string& mutex) {
    return does(thread, "unlock", EventKind::MutexUnlock, mutex);
  }
  trace::Trace placed() const {
    trace::Trace result = trace();
    for (trace::SiteIndex i = 0; i < result.sites.size(); ++i) {
      result.sites[i].frames = {{"f", "f.c", i + 1, 1}};
    }
    return result;
  }
};

/// "race a b", "race? a b" where no run shows it, by kind and sites.
std::vector<std::string> conflicts_of(const History& run) {
  ConflictDetector detector;
  detector.add(run.placed(), 0);
  std::vector<std::string> result;
  for (const Conflict& conflict : detector.conflicts()) {
    result.push_back(std::string(to_text(conflict.kind)) + (conflict.observed ? " " : "? ") +
                     conflict.pair.first.point.site + " " + conflict.pair.second.point.site);
  }
  return result;
}

using Found = std::vector<std::string>;

TEST(Conflicts, ARaceNeedsTwoThreadsAndAWrite) {
  EXPECT_EQ(conflicts_of(History().write(1, "a", "x").read(2, "b", "x")), (Found{"race a b"}));
  EXPECT_EQ(conflicts_of(History().read(1, "a", "x").read(2, "b", "x")), (Found{}));
  EXPECT_EQ(conflicts_of(History().write(1, "a", "x").read(1, "b", "x")), (Found{}));
  EXPECT_EQ(conflicts_of(History().write(1, "a", "x").read(2, "b", "y")), (Found{}));
}

TEST(Conflicts, CreationAndJoiningOrder) {
  History joined;
  joined.write(1, "a", "x").joins(0, 1);
  joined.read(0, "b", "x");
  EXPECT_EQ(conflicts_of(joined), (Found{}));
}

TEST(Conflicts, ALockInCommonMakesItAContention) {
  EXPECT_EQ(conflicts_of(History()
                             .lock(1, "m", "lock1")
                             .write(1, "a", "x")
                             .unlock(1, "m")
                             .lock(2, "m", "lock2")
                             .write(2, "b", "x")
                             .unlock(2, "m")),
            (Found{"lock lock1 lock2"}));
}

TEST(Conflicts, AContentionSaysWhatItIsAbout) {
  ConflictDetector detector;
  detector.add(History()
                   .lock(1, "m", "lock1")
                   .write(1, "a", "x")
                   .unlock(1, "m")
                   .lock(2, "m", "lock2")
                   .read(2, "b", "x")
                   .placed(),
               0);
  const std::vector<Conflict> found = detector.conflicts();
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].about.size(), 1u);
  EXPECT_EQ(found[0].about[0].variable, "x");
  EXPECT_EQ(found[0].about[0].second.point.site, "b");
}

TEST(Conflicts, AWokenThreadContendsForItsMutex) {
  History run;
  run.lock(1, "m").does(1, "wait", EventKind::CondWait, "c");
  run.lock(2, "m", "thief").unlock(2, "m").lock(1, "m", "wait");
  EXPECT_EQ(conflicts_of(run), (Found{"lock lock thief", "lock thief wait"}));
  ConflictDetector detector;
  detector.add(run.placed(), 0);
  std::vector<Conflict> found = detector.conflicts();
  propose_orders(found);
  EXPECT_EQ(found[1].pair.second.role, kWokenRole);
  EXPECT_EQ(found[1].orders[0].pins[0].at[1].moment, trace::PinMoment::Woken);
}

TEST(Conflicts, WhatOnlyALockOrderedIsPotential) {
  // The accesses are outside the critical sections, which came between them this time.
  EXPECT_EQ(conflicts_of(History()
                             .write(1, "a", "x")
                             .lock(1, "m")
                             .unlock(1, "m")
                             .lock(2, "m")
                             .unlock(2, "m")
                             .read(2, "b", "x")),
            (Found{"lock lock lock", "race? a b"}));
}

TEST(Conflicts, ReadersOfAReadWriteLockDoNotExcludeEachOther) {
  History run;
  for (trace::ThreadId thread : {1, 2}) {
    run.does(thread, "rd", EventKind::RwlockRead, "l")
        .write(thread, "a", "x")
        .does(thread, "un", EventKind::RwlockUnlock, "l");
  }
  EXPECT_EQ(conflicts_of(run), (Found{"race a a"}));
}

TEST(Conflicts, ANotificationWithoutTheLockMeetsTheWait) {
  EXPECT_EQ(conflicts_of(History()
                             .does(1, "signal", EventKind::CondSignal, "c")
                             .lock(2, "m")
                             .does(2, "wait", EventKind::CondWait, "c")),
            (Found{"condition signal wait"}));
  EXPECT_EQ(conflicts_of(History()
                             .lock(1, "m")
                             .does(1, "signal", EventKind::CondSignal, "c")
                             .unlock(1, "m")
                             .lock(2, "m")
                             .does(2, "wait", EventKind::CondWait, "c")),
            (Found{"lock lock lock"}));
}

TEST(Conflicts, AWakeUpOrdersWhatCameBeforeIt) {
  History run;
  run.lock(2, "m").does(2, "wait", EventKind::CondWait, "c").write(1, "a", "x");
  run.does(1, "broadcast", EventKind::CondBroadcast, "c").read(2, "b", "x");
  EXPECT_EQ(conflicts_of(run), (Found{"condition wait broadcast"}));
}

TEST(Conflicts, AtomicVariablesOrderAndAreContendedFor) {
  EXPECT_EQ(conflicts_of(History()
                             .write(1, "a", "x")
                             .does(1, "set", EventKind::AtomicStore, "flag")
                             .does(2, "get", EventKind::AtomicLoad, "flag")
                             .read(2, "b", "x")),
            (Found{"atomic set get"}));
}

TEST(Conflicts, FreeingIsTheEndOfAllOfIt) {
  History run;
  run.reads(1, "use", "block", 32).access(2, "free", EventKind::HeapFree, "block", 0, 0);
  EXPECT_EQ(conflicts_of(run), (Found{"lifetime use free"}));
}

/// Native runs that hit and fail as a function says.
class ToyOracle final : public NativeOracle {
 public:
  explicit ToyOracle(std::function<bool(const trace::Pins&)> fails, bool hits = true)
      : fails_(std::move(fails)), hits_(hits) {}
  NativeRuns run(const trace::Pins& pins, std::uint32_t runs) override {
    NativeRuns result;
    result.runs = runs;
    result.failures = fails_(pins) ? runs : 0;
    result.hits = hits_ ? runs : 0;
    result.failed_hits = hits_ ? result.failures : 0;
    return result;
  }

 private:
  std::function<bool(const trace::Pins&)> fails_;
  bool hits_;
};

Conflicts two_races() {
  ConflictDetector detector;
  detector.add(
      History().write(1, "a", "x").read(2, "b", "x").write(1, "c", "y").write(2, "d", "y").placed(),
      0);
  Conflicts conflicts;
  conflicts.found = detector.conflicts();
  propose_orders(conflicts.found);
  conflicts.without.runs = 20;
  return conflicts;
}

TEST(Orders, WhatFailsInOneOrderIsTheExplanation) {
  Conflicts conflicts = two_races();
  ASSERT_EQ(conflicts.found.size(), 2u);
  ToyOracle oracle([](const trace::Pins& pins) { return pins[0].at[0].at.site == "d"; });
  for (Conflict& conflict : conflicts.found) try_orders(oracle, conflict, conflicts.without, {});
  rank(conflicts);
  const Conflict& first = conflicts.found[0];
  EXPECT_EQ(first.pair.first.point.site, "c");
  EXPECT_EQ(first.orders[0].effect, Effect::Harmless);
  EXPECT_EQ(first.orders[1].effect, Effect::Fails);
  EXPECT_TRUE(first.orders[1].is_reversed);
  EXPECT_EQ(conflicts.found[1].orders[0].effect, Effect::Harmless);
  const auto rows = report::rows_json(conflicts);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1]["first"]["site"], "d");
  EXPECT_EQ(rows[1]["failure_percent"], 100);
  const auto results = report::to_sarif(conflicts, "1")["runs"][0]["results"];
  EXPECT_EQ(results[0]["level"], "error");
  EXPECT_EQ(results[0]["codeFlows"].size(), 1u);
  EXPECT_EQ(results[1]["level"], "note");
}

TEST(Orders, WhatFailsUnderControlIsTriedNativelyFirst) {
  Conflicts conflicts = two_races();
  conflicts.found[1].observed = false;  // chance did not show it
  conflicts.found[1].orders[0].controlled_runs = 2;
  conflicts.found[1].orders[0].controlled_failures = 2;
  choose(conflicts, 1);
  ASSERT_EQ(conflicts.found.size(), 1u);
  EXPECT_EQ(conflicts.found[0].pair.first.point.site, "c");
  EXPECT_EQ(conflicts.left_out, 1u);
}

TEST(Orders, WhatWasObservedComesBeforeWhatIsPotential) {
  Conflicts conflicts = two_races();
  conflicts.found[0].observed = false;
  choose(conflicts, 2);
  EXPECT_EQ(conflicts.found[0].pair.first.point.site, "c");
  EXPECT_EQ(conflicts.left_out, 0u);
}

TEST(Orders, FailuresWithoutAHitPointElsewhere) {
  Conflicts conflicts = two_races();
  ToyOracle oracle([](const trace::Pins&) { return true; }, false);
  try_orders(oracle, conflicts.found[0], conflicts.without, {});
  EXPECT_EQ(conflicts.found[0].orders[0].effect, Effect::Elsewhere);
}

TEST(Orders, WhatNeedsAnotherConflictFirstIsTriedAfterIt) {
  Conflicts conflicts = two_races();
  ToyOracle oracle([](const trace::Pins& pins) {
    return pins.size() == 2 && pins[0].at[0].at.site == "b" && pins[1].at[0].at.site == "d";
  });
  for (Conflict& conflict : conflicts.found) try_orders(oracle, conflict, conflicts.without, {});
  combine_orders(oracle, conflicts.found, conflicts.without, {});
  EXPECT_EQ(conflicts.found[1].orders[1].effect, Effect::Harmless);  // never failed under control
  conflicts.found[1].orders[1].controlled_failures = 1;
  combine_orders(oracle, conflicts.found, conflicts.without, {});
  const OrderTrial& order = conflicts.found[1].orders[1];
  EXPECT_EQ(order.effect, Effect::Fails);
  ASSERT_TRUE(order.after);
  EXPECT_EQ(order.after->first.point.site, "b");
  EXPECT_EQ(order.after->second.point.site, "a");
  EXPECT_EQ(report::rows_json(conflicts)[3]["after"]["first"]["site"], "b");
}

TEST(Orders, AProgramThatFailsAnywayIsExplainedByNothing) {
  Conflicts conflicts = two_races();
  conflicts.without.failures = 20;
  ToyOracle oracle([](const trace::Pins&) { return true; });
  try_orders(oracle, conflicts.found[0], conflicts.without, {});
  EXPECT_EQ(conflicts.found[0].orders[0].effect, Effect::Harmless);
}

}  // namespace
}  // namespace heddle::analysis
