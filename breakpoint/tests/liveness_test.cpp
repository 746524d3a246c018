// SPDX-License-Identifier: Apache-2.0
//
// No deadlock is introduced, and no pause outlives its use. All pauses here last an hour: the tests
// end because the engine ends them.
#include <gtest/gtest.h>
#include <heddle/breakpoint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "threads.h"

namespace {

using heddle::breakpoint_stats;

TEST(Liveness, PauseEndsWhenThePartnerIsGone) {
  int object = 0;
  run_all([&] { heddle::conflict("gone", &object).pause(kForever).first(); }, [] {});
  EXPECT_EQ(breakpoint_stats("gone").abandoned, 1u);
}

TEST(Liveness, PauseEndsWhenThePartnerWaitsForALockHeldAtTheBreakpoint) {
  std::mutex mutex;
  int object = 0;
  auto critical = [&](unsigned side) {
    return [&, side] {
      std::lock_guard lock(mutex);
      heddle::conflict("critical", &object).pause(kForever).side(side);
    };
  };
  run_all(critical(0), critical(1));
  EXPECT_EQ(breakpoint_stats("critical").abandoned, 2u);
}

TEST(Liveness, ThePauseThatIsOverFirstEndsFirstAndMayBeTheMissingPartner) {
  int object = 0;
  bool met = false;
  run_all(
      [&] {
        heddle::conflict("older", &object).pause(kForever).first();
        met = heddle::conflict("younger", &object).pause(kForever).second();
      },
      [&] {
        wait_until([] { return breakpoint_stats("older").arrivals == 1; });
        // The longer a thread is postponed, the more seldom it looks: the younger one looks first.
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        heddle::conflict("younger", &object).pause(kForever).first();
      });
  EXPECT_TRUE(met);
  EXPECT_EQ(breakpoint_stats("older").abandoned, 1u);
  EXPECT_EQ(breakpoint_stats("younger").abandoned, 0u);
}

TEST(Liveness, ATurnWhoseActionBlocksOnTheNextSideDoesNotDeadlock) {
  std::mutex mutex;
  int object = 0;
  bool second_hit = true;
  run_all(
      [&] {
        heddle::conflict("blocked turn", &object).pause(kForever).first([&] {
          std::lock_guard lock(mutex);
        });
      },
      [&] {
        std::lock_guard lock(mutex);
        second_hit = heddle::conflict("blocked turn", &object).pause(kForever).second();
      });
  EXPECT_FALSE(second_hit);  // reached, but not in order
  EXPECT_EQ(breakpoint_stats("blocked turn").disorders, 1u);
}

TEST(Liveness, AShortPauseEndsBeforeALongOne) {
  // Both are postponed and nobody else can run, but the second comes back after its short pause.
  auto same = [](int a, int b) { return a == b; };
  bool hit = false;
  run_all([&] { hit = heddle::breakpoint("long", 1).where(same).pause(kForever).first(); },
          [&] {
            wait_until([] { return breakpoint_stats("long").arrivals == 1; });
            heddle::breakpoint("long", 2).where(same).pause(std::chrono::minutes(10)).second();
            heddle::breakpoint("long", 1).where(same).pause(kForever).second();
          });
  EXPECT_TRUE(hit);
  EXPECT_EQ(breakpoint_stats("long").abandoned, 1u);
}

/// The partner is merely late, in one way or another: the pause must not be given up.
template <class Delay>
void expect_patience(const char* name, const Delay& delay) {
  int object = 0;
  bool hit = false;
  run_all([&] { hit = heddle::conflict(name, &object).pause(kForever).first(); },
          [&] {
            wait_until([&] { return breakpoint_stats(name).arrivals == 1; });
            delay();
            heddle::conflict(name, &object).pause(kForever).second();
          });
  EXPECT_TRUE(hit);
}
constexpr std::chrono::milliseconds kManyLooks{150};

TEST(Liveness, ASleepingThreadCanCome) {
  expect_patience("sleeping", [] { std::this_thread::sleep_for(kManyLooks); });
}
TEST(Liveness, AComputingThreadCanCome) {
  expect_patience("computing", [] {
    auto end = std::chrono::steady_clock::now() + kManyLooks;
    while (std::chrono::steady_clock::now() < end) {
    }
  });
}
TEST(Liveness, AThreadInATimedWaitCanCome) {
  expect_patience("timed wait", [] {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, kManyLooks, [] { return false; });
  });
}
TEST(Liveness, AThreadThatReadsCanCome) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t writer = fork();
  if (writer == 0) {
    std::this_thread::sleep_for(kManyLooks);
    _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
  }
  expect_patience("reading", [&] {
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
  });
  waitpid(writer, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
}

TEST(Liveness, EarlyEndCanBeSwitchedOff) {
  int object = 0;
  heddle::configure_breakpoints("early_end=0");
  run_all([&] {
    heddle::conflict("no early end", &object).pause(std::chrono::milliseconds(30)).first();
  });
  heddle::configure_breakpoints("early_end=1");
  EXPECT_EQ(breakpoint_stats("no early end").abandoned, 0u);
  EXPECT_EQ(breakpoint_stats("no early end").timeouts, 1u);
}

/// Joins like a static object of a program would, during exit.
struct JoinAtExit {
  ~JoinAtExit() {
    if (thread.joinable()) thread.join();
  }
  std::thread thread;
};
JoinAtExit at_exit;

TEST(Liveness, ExitEndsPauses) {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    heddle::configure_breakpoints("early_end=0");  // so that only the exit can
    static int object;
    at_exit.thread = std::thread([] { heddle::conflict("exit", &object).pause(kForever).first(); });
    wait_until([] { return breakpoint_stats("exit").arrivals == 1; });
    // The destructor of at_exit joins the postponed thread.
    std::exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
