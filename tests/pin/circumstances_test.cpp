// SPDX-License-Identifier: Apache-2.0
//
// By what arrivals at one place are told apart.
#include "analysis/pin/circumstances.h"

#include <gtest/gtest.h>

#include "tests/analysis/small_trace.h"

namespace heddle::analysis {
namespace {

using trace::EventKind;

/// The event at which `thread` is at `site` for the n-th time, as a stop; what is said of it.
class Asked {
 public:
  explicit Asked(const SmallTrace& small) : trace_(small.trace()) {
    for (trace::Site& site : trace_.sites) site.frames = {{site.key, "small.c", 1, 1}};
  }

  std::string context(trace::ThreadId thread, const std::string& site, unsigned visit) const {
    return text(
        [&](const Circumstances& all, const Stop& stop) { return all.calling_context(stop); },
        thread, site, visit);
  }
  std::string lock(trace::ThreadId thread, const std::string& site, unsigned visit) const {
    return text([&](const Circumstances& all, const Stop& stop) { return all.lock_held(stop); },
                thread, site, visit);
  }

 private:
  template <typename Ask>
  std::string text(Ask ask, trace::ThreadId thread, const std::string& site, unsigned visit) const {
    const Accesses accesses(trace_);
    const Arrivals arrivals(trace_);
    const Circumstances circumstances(accesses, arrivals);
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const trace::Event& event = trace_.events[i];
      if (event.thread != thread || trace_.sites[event.site].key != site) continue;
      if (--visit != 0) continue;
      const auto stop = stop_at(accesses, arrivals, i);
      const std::optional<Circumstance> found = ask(circumstances, *stop);
      return found ? found->place.site + " " + std::to_string(found->visit) : "-";
    }
    return "no such event";
  }

  trace::Trace trace_;
};

SmallTrace& locks(SmallTrace& small, const std::string& site, const std::string& lock) {
  return small.access(1, site, EventKind::MutexLock, lock, 0, 40);
}
SmallTrace& unlocks(SmallTrace& small, const std::string& lock) {
  return small.access(1, "unlock " + lock, EventKind::MutexUnlock, lock, 0, 40);
}

TEST(Circumstances, TheFunctionThatFewestArrivalsShare) {
  SmallTrace small;
  small.calls(1, "thread").calls(1, "put").writes(1, "store", "x").returns(1, "put");
  small.calls(1, "finish").calls(1, "put").writes(1, "store", "x").returns(1, "put");
  small.returns(1, "finish").calls(2, "other").calls(2, "inner").calls(2, "put");
  small.writes(2, "store", "x");
  const Asked asked(small);
  // All are in put; the first two in thread, one of these in finish.
  EXPECT_EQ(asked.context(1, "store", 2), "finish 0");
  EXPECT_EQ(asked.context(1, "store", 1), "thread 1");
  EXPECT_EQ(asked.context(2, "store", 1), "inner 0");
}

TEST(Circumstances, OneWayToAPlaceTellsNothing) {
  SmallTrace small;
  small.calls(1, "put").writes(1, "store", "x").writes(1, "store", "x");
  EXPECT_EQ(Asked(small).context(1, "store", 1), "-");
  // Nor do steps that are not all there.
  small.returns(1, "put").calls(1, "get").writes(1, "store", "x");
  EXPECT_EQ(Asked(small).context(1, "store", 3), "get 0");
  small.loses_steps();
  EXPECT_EQ(Asked(small).context(1, "store", 3), "-");
}

TEST(Circumstances, TheLockThatNotAllHad) {
  SmallTrace small;
  locks(small, "take a", "a").writes(1, "store", "x");
  locks(small, "take b", "b").writes(1, "store", "x").writes(1, "store", "x");
  unlocks(unlocks(small, "b"), "a").writes(1, "store", "x");
  const Asked asked(small);
  EXPECT_EQ(asked.lock(1, "store", 1), "take a 1");
  EXPECT_EQ(asked.lock(1, "store", 3), "take b 2");
  EXPECT_EQ(asked.lock(1, "store", 4), "-");
}

TEST(Circumstances, AWaitDoesNotChangeWhereTheLockWasTaken) {
  SmallTrace small;
  small.writes(1, "store", "x");
  locks(small, "take a", "a").access(1, "wait", EventKind::CondWait, "condition", 0, 48);
  locks(small, "wait", "a").writes(1, "store", "x");
  EXPECT_EQ(Asked(small).lock(1, "store", 2), "take a 0");
}

}  // namespace
}  // namespace heddle::analysis
