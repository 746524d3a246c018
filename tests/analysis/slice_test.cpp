// SPDX-License-Identifier: Apache-2.0
#include "analysis/slice/slice.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace heddle::analysis {
namespace {

using trace::EventKind;

class SmallRun {
 public:
  SmallRun() {
    for (const char* path : {"t0", "t0.1", "t0.2"}) trace.threads.push_back({path, 0});
    for (const char* name : {"x", "y", "lock"}) {
      trace.objects.push_back({trace::ObjectKind::Static, name, 8});
    }
  }
  SmallRun& event(trace::ThreadId thread, EventKind kind, trace::ObjectIndex object = trace::kNone,
                  std::uint64_t value = 0) {
    trace::Event event;
    event.thread = thread;
    event.kind = kind;
    event.object = object;
    event.value = value;
    event.size = object < 2 ? 8 : 0;
    trace.events.push_back(event);
    return *this;
  }
  trace::Trace trace;
};

TEST(Slice, EveryKindOfDependenceBetweenThreads) {
  SmallRun run;
  run.event(0, EventKind::ThreadCreate, trace::kNone, 1).event(1, EventKind::ThreadStart);  // 0 1
  run.event(0, EventKind::Store, 0).event(1, EventKind::Load, 0);                           // 2 3
  run.event(0, EventKind::Store, 0).event(1, EventKind::Store, 0);                          // 4 5
  run.event(0, EventKind::MutexUnlock, 2).event(1, EventKind::MutexLock, 2);                // 6 7
  run.event(1, EventKind::ThreadExit).event(0, EventKind::ThreadJoin, trace::kNone, 1);     // 8 9
  EXPECT_EQ(dependences_between_threads(run.trace),
            (std::vector<Dependence>{{0, 1, DependenceKind::Fork},
                                     {2, 3, DependenceKind::WriteRead},
                                     {3, 4, DependenceKind::ReadWrite},
                                     {4, 5, DependenceKind::WriteWrite},
                                     {6, 7, DependenceKind::Synchronisation},
                                     {8, 9, DependenceKind::Join}}));
}

TEST(Slice, LeavesOutWhatNothingDependsOn) {
  SmallRun run;
  run.event(2, EventKind::Store, 1).event(0, EventKind::Store, 0).event(1, EventKind::Load, 0);
  run.event(0, EventKind::Store, 0);
  run.trace.outcome.kind = abi::FailureKind::Assert;
  run.trace.outcome.thread = 1;
  EXPECT_EQ(failing_event(run.trace), 2u);
  const Slice found = slice(run.trace, 2);
  EXPECT_EQ(found.contains, (std::vector<bool>{false, true, true, false}));
  EXPECT_EQ(found.size, 2u);
  EXPECT_EQ(found.reasons, (std::vector<Dependence>{{1, 2, DependenceKind::WriteRead}}));
}

TEST(Slice, OfAnotherThreadOnlyWhatCameBefore) {
  SmallRun run;
  run.event(0, EventKind::Load, 1).event(0, EventKind::Store, 0).event(0, EventKind::Store, 1);
  run.event(1, EventKind::Load, 0);
  EXPECT_EQ(slice(run.trace, 3).contains, (std::vector<bool>{true, true, false, true}));
}

TEST(Slice, RefusesAnEventThatIsNotThere) {
  SmallRun run;
  run.event(0, EventKind::Yield);
  EXPECT_THROW(slice(run.trace, 1), Error);
}

}  // namespace
}  // namespace heddle::analysis
