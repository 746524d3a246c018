// SPDX-License-Identifier: Apache-2.0
#include "trace/words.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sample_traces.h"
#include "trace/counts.h"
#include "trace/signature.h"

namespace heddle::trace {
namespace {

TEST(Words, DescribesEvents) {
  Trace trace = sample::use_after_free();
  EXPECT_EQ(describe_with_place(trace, trace.events[0]), "t0 thread_start at thread_start");
  EXPECT_EQ(describe_with_place(trace, trace.events[1]),
            "t0 thread_create t0.1 at shared_buffer.cpp:20:15 (main)");
  EXPECT_EQ(describe(trace, trace.events[3]),
            "atomic_rmw heap t0 #1 (main+1.call.1) = 2 -> 1 (4 bytes)");
  EXPECT_EQ(describe(trace, trace.events[6]), "load heap t0 #1 (main+1.call.1)+4 = 0 (4 bytes)");
}

TEST(Words, DescribesEveryKindWithoutItsTables) {
  Trace empty;
  for (unsigned kind = 0; kind < 100; ++kind) {
    Event event;
    event.kind = static_cast<EventKind>(kind);
    event.value = event.aux = 77;
    if (kind == 3) EXPECT_EQ(describe(empty, event), "thread_create thread number 77");
    if (kind == 16) EXPECT_EQ(describe(empty, event), "fence unknown order");
    if (kind == 20) EXPECT_EQ(describe(empty, event), "mutex_lock failed with 77");
    if (kind == 34) EXPECT_EQ(describe(empty, event), "cond_wake timed out");
    if (kind == 31) EXPECT_EQ(describe(empty, event), "cond_signal woke thread number 76");
  }
  Event large;
  large.kind = EventKind::Load;
  large.size = 16;
  large.value = 0xabc;
  EXPECT_EQ(describe(empty, large), "load = hash 0000000000000abc (16 bytes)");
}

TEST(Words, DescribesWaits) {
  Trace trace = sample::deadlock();
  EXPECT_EQ(describe(trace, trace.outcome.waits[0]),
            "t0 waits to thread_join t0.1 at bank.c:25:3 (main)");
  EXPECT_EQ(describe(trace, trace.outcome.waits[1]),
            "t0.1 waits to mutex_lock b at bank.c:7:3 (pay), held by t0.2 since bank.c:14:3 "
            "(refund)");
}

TEST(Words, PlacesAreInTheUsersOwnSource) {
  Trace trace = sample::use_after_free();
  std::vector<Frame>& frames = trace.sites[trace.outcome.site].frames;
  std::string before = signature(trace);
  frames.insert(frames.begin(), {"std::atomic::load", "/usr/include/c++/12/atomic", 488, 3});
  frames.insert(frames.begin(), {"load", "/usr/lib/gcc/include/stdatomic.h", 1, 1});
  EXPECT_EQ(signature(trace), before);
  EXPECT_EQ(place_and_function(trace, trace.outcome.site),
            "shared_buffer.cpp:15:15 (reader(Buffer*))");
  frames.resize(2);
  EXPECT_EQ(place_of(trace, trace.outcome.site), "stdatomic.h:1:1") << "better than none";
}

TEST(Signature, IsKindAndPlace) {
  EXPECT_EQ(signature(sample::lost_update()), "assert counter.c:19 (main)");
  EXPECT_EQ(signature(sample::deadlock()), "deadlock bank.c:7 (pay), bank.c:15 (refund)");
  EXPECT_EQ(signature(sample::use_after_free()),
            "use-after-free shared_buffer.cpp:15 (reader(Buffer*))");
  EXPECT_EQ(signature(sample::lost_wakeup()),
            "lost-wakeup mailbox.c:12 (reader), mailbox.c:24 (main)");
  EXPECT_EQ(signature(sample::eight_threads()), "exit 3");
  EXPECT_EQ(signature(Trace{}), "none");
}

TEST(Signature, OfASignalNamesIt) {
  Trace trace = sample::use_after_free();
  trace.outcome.kind = FailureKind::Signal;
  trace.outcome.signal = 11;
  EXPECT_EQ(signature(trace), "signal SIGSEGV shared_buffer.cpp:15 (reader(Buffer*))");
  trace.outcome.site = kNone;
  EXPECT_EQ(signature(trace), "signal SIGSEGV");
}

TEST(Signature, DoesNotDependOnWhichThreadsMet) {
  Trace trace = sample::deadlock();
  Trace other = trace;
  std::reverse(other.outcome.waits.begin(), other.outcome.waits.end());
  std::swap(other.threads[1].path, other.threads[2].path);
  other.sites[0].frames[0].file = "/elsewhere/bank.c";
  EXPECT_EQ(signature(other), signature(trace));
  // Waits for the cycle from outside it are not part of the bug.
  other.outcome.waits.erase(other.outcome.waits.end() - 1);
  EXPECT_EQ(signature(other), signature(trace));
}

TEST(Signature, OfADeadlockWithUnknownHoldersTakesAllWaits) {
  Trace trace = sample::deadlock();
  for (Wait& wait : trace.outcome.waits) wait.holder = kNone;
  EXPECT_EQ(signature_of(trace).places.size(), 3u);
}

TEST(Signature, OfAThreadThatWaitsForItself) {
  Trace trace = sample::deadlock();
  trace.outcome.waits.erase(trace.outcome.waits.begin() + 2);
  trace.outcome.waits[1].holder = trace.outcome.waits[1].thread;
  EXPECT_EQ(signature(trace), "deadlock bank.c:7 (pay)");
}

TEST(Counts, CountsSwitchesAndPreemptions) {
  EXPECT_EQ(context_switches(sample::lost_update()), 4u);
  EXPECT_EQ(context_switches(Trace{}), 0u);
  EXPECT_EQ(preemptions(sample::lost_update_schedule()), 1u);
}

}  // namespace
}  // namespace heddle::trace
