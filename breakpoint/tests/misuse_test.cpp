// SPDX-License-Identifier: Apache-2.0
//
// What is wrong or unusual has a defined outcome (docs/breakpoints.md, "What happens if").
#include <gtest/gtest.h>
#include <heddle/breakpoint.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "threads.h"

namespace {

using heddle::breakpoint_stats;

// A static constructor may run before the engine's own; both sides meet here all the same.
struct HitInConstructor {
  HitInConstructor() {
    run_all([this] { first = heddle::breakpoint("constructor").pause(kForever).first(); },
            [this] { second = heddle::breakpoint("constructor").pause(kForever).second(); });
  }
  bool first = false, second = false;
};
__attribute__((init_priority(101))) HitInConstructor hit_in_constructor;

TEST(Misuse, AStaticConstructorIsLikeAnyOtherPlace) {
  EXPECT_TRUE(hit_in_constructor.first);
  EXPECT_TRUE(hit_in_constructor.second);
}

TEST(Misuse, OneNameWithDifferentSidesOrTypesIsRefusedAndTold) {
  int object = 0;
  heddle::conflict("twofold", &object).pause(std::chrono::milliseconds(1)).first();
  testing::internal::CaptureStderr();
  EXPECT_FALSE(heddle::conflict<3>("twofold", &object).pause(kForever).first());
  EXPECT_FALSE(heddle::breakpoint("twofold", 5).pause(kForever).first());
  EXPECT_FALSE(heddle::deadlock("twofold", &object, &object).pause(kForever).first());
  std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(told,
            "heddle: breakpoint 'twofold' is used with different numbers of sides or different "
            "types; the calls that disagree with the first pass\n");
  EXPECT_EQ(breakpoint_stats("twofold").refused, 3u);
  // Those that agree with the first still work.
  bool hit = false;
  run_all([&] { hit = heddle::conflict("twofold", &object).pause(kForever).first(); },
          [&] { heddle::conflict("twofold", &object).pause(kForever).second(); });
  EXPECT_TRUE(hit);
}

TEST(Misuse, ASideOutOfRangeIsRefused) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(heddle::breakpoint("range").pause(kForever).side(2));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("out of range"), std::string::npos);
  EXPECT_EQ(breakpoint_stats("range").refused, 1u);
}

TEST(Misuse, APredicateThatThrowsCountsAsFalse) {
  auto throws = []() -> bool { throw 1; };
  EXPECT_FALSE(heddle::breakpoint("local throws").pause(kForever).when(throws).first());
  EXPECT_EQ(breakpoint_stats("local throws").errors, 1u);
  EXPECT_EQ(breakpoint_stats("local throws").arrivals, 0u);

  auto global_throws = [](int, int) -> bool { throw 1; };
  auto side = [&](unsigned k) {
    return [&, k] {
      heddle::breakpoint("global throws", 1)
          .where(global_throws)
          .pause(std::chrono::milliseconds(100))
          .side(k);
    };
  };
  run_all(side(0), side(1));
  EXPECT_EQ(breakpoint_stats("global throws").hits, 0u);
  EXPECT_GE(breakpoint_stats("global throws").errors, 1u);
}

TEST(Misuse, APredicateThatBlocksHoldsUpOnlyItsOwnThread) {
  std::atomic<bool> blocked{false}, release{false};
  auto yes = [](int, int) { return true; };
  auto blocks = [&](int, int) {
    blocked = true;
    wait_until([&] { return release.load(); });
    return true;
  };
  bool hits[3] = {};
  std::thread postponed(
      [&] { hits[0] = heddle::breakpoint("blocks", 1).where(yes).pause(kForever).first(); });
  wait_until([] { return breakpoint_stats("blocks").arrivals == 1; });
  std::thread stuck([&] {
    hits[1] =
        heddle::breakpoint("blocks", 1).where(blocks).pause(std::chrono::milliseconds(10)).second();
  });
  // If the postponed thread was not yet in its set, the stuck one is postponed itself and retries.
  wait_until([&] { return blocked || breakpoint_stats("blocks").hits > 0; });
  std::thread third(
      [&] { hits[2] = heddle::breakpoint("blocks", 1).where(yes).pause(kForever).second(); });
  postponed.join();
  third.join();
  release = true;
  stuck.join();
  EXPECT_TRUE(hits[0]);
  EXPECT_FALSE(hits[1]);
  EXPECT_TRUE(hits[2]);
}

TEST(Misuse, AThreadThatIsMetMeanwhileIsNotMetTwice) {
  std::atomic<bool> blocked{false}, release{false}, late_left{false};
  auto yes = [](int, int) { return true; };
  auto blocks = [&](int, int) {
    blocked = true;
    wait_until([&] { return release.load(); });
    return true;
  };
  bool late_hit = true;
  std::thread postponed(
      [&] { heddle::breakpoint("twice", 1).where(yes).pause(kForever).second(); });
  std::thread late([&] {
    // Comes back until it has found the postponed thread and is in its predicate.
    wait_until([&] {
      late_hit =
          heddle::breakpoint("twice", 1).where(blocks).pause(std::chrono::seconds(0)).first();
      return blocked.load();
    });
    late_left = true;
  });
  wait_until([&] { return blocked.load(); });
  // Meets the postponed thread, which now waits for its turn: still there, but taken.
  bool hit = heddle::breakpoint("twice", 1).where(yes).pause(kForever).first([&] {
    release = true;
    wait_until([&] { return late_left.load(); });
  });
  postponed.join();
  late.join();
  EXPECT_TRUE(hit);
  EXPECT_FALSE(late_hit);
}

TEST(Misuse, ABreakpointInsideAPredicatePasses) {
  bool inner = true;
  auto nested = [&] {
    inner = heddle::breakpoint("inner").pause(kForever).first();
    return false;
  };
  heddle::breakpoint("outer").when(nested).first();
  EXPECT_FALSE(inner);
  EXPECT_EQ(breakpoint_stats("inner").arrivals, 0u);
}

TEST(Misuse, AForkedChildStartsAfreshAndTheParentGoesOn) {
  int object = 0;
  bool hit = false;
  std::thread postponed([&] { hit = heddle::conflict("fork", &object).pause(kForever).first(); });
  wait_until([] { return breakpoint_stats("fork").arrivals == 1; });
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (breakpoint_stats("fork").arrivals != 0) _exit(1);
    // The parent's postponed thread does not exist here.
    if (heddle::conflict("fork", &object).pause(std::chrono::milliseconds(1)).second()) _exit(2);
    if (breakpoint_stats("fork").hits != 0) _exit(3);
    bool met = false;
    std::thread one([&] { met = heddle::conflict("fork", &object).pause(kForever).first(); });
    std::thread two([&] { heddle::conflict("fork", &object).pause(kForever).second(); });
    one.join();
    two.join();
    _exit(met ? 0 : 4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  run_all([&] { heddle::conflict("fork", &object).pause(kForever).second(); });
  postponed.join();
  EXPECT_TRUE(hit);
}

struct Cancelled {
  bool hit = false;
  bool went_on = false;
};

TEST(Misuse, CancellationWaitsForTheEndOfThePause) {
  Cancelled state;
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void* arg) -> void* {
        auto* cancelled = static_cast<Cancelled*>(arg);
        cancelled->hit = heddle::breakpoint("cancelled").pause(kForever).first();
        cancelled->went_on = true;
        pthread_testcancel();
        return nullptr;
      },
      &state);
  wait_until([] { return breakpoint_stats("cancelled").arrivals == 1; });
  pthread_cancel(thread);
  // Meanwhile the postponed thread looks whether somebody can come, which opens files: these would
  // be cancellation points.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(heddle::breakpoint("cancelled").pause(kForever).second());
  void* result = nullptr;
  pthread_join(thread, &result);
  EXPECT_TRUE(state.hit);
  EXPECT_TRUE(state.went_on);
  EXPECT_EQ(result, PTHREAD_CANCELED);
}

std::atomic<int> handled{0};
std::atomic<bool> handler_hit{false};

void arrive_in_handler(int) {
  handler_hit = heddle::breakpoint("handler").pause(kForever).second();
  ++handled;
}

TEST(Misuse, ASignalHandlerOnAPostponedThreadPasses) {
  signal(SIGUSR1, arrive_in_handler);
  std::thread postponed([] { heddle::breakpoint("handler").pause(kForever).first(); });
  wait_until([] { return breakpoint_stats("handler").arrivals == 1; });
  pthread_kill(postponed.native_handle(), SIGUSR1);
  wait_until([] { return handled == 1; });
  EXPECT_FALSE(handler_hit);
  // On a thread outside the engine the handler takes part like any code.
  raise(SIGUSR1);
  EXPECT_TRUE(handler_hit);
  postponed.join();
  signal(SIGUSR1, SIG_DFL);
}

TEST(Misuse, UnknownOptionsAreNamed) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(heddle::configure_breakpoints("pause=5:bound=1:give_up=x:verbose"));
  std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("'pause=5' is not understood"), std::string::npos);
  EXPECT_NE(told.find("'give_up=x'"), std::string::npos);
  EXPECT_NE(told.find("'verbose'"), std::string::npos);
  EXPECT_EQ(told.find("bound"), std::string::npos);
  EXPECT_EQ(heddle_bp_engine.defaults.bound, 1);
  EXPECT_TRUE(heddle::configure_breakpoints("bound=0"));
}

TEST(Misuse, TooManyThreadsPostponedPassAndAreTold) {
  testing::internal::CaptureStderr();
  constexpr unsigned kThreads = HEDDLE_BP_MAX_POSTPONED + 1;
  std::thread threads[kThreads];
  for (std::thread& thread : threads) {
    thread = std::thread([] { heddle::breakpoint("crowd").pause(kForever).first(); });
  }
  wait_until([] { return breakpoint_stats("crowd").refused == 1; });
  heddle::enable_breakpoints(false);
  for (std::thread& thread : threads) thread.join();
  heddle::enable_breakpoints(true);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("too many"), std::string::npos);
}

TEST(Misuse, TooManyNamesPass) {
  // Last in this file: it fills the table. Names can be temporaries.
  for (int i = 0; i < HEDDLE_BP_MAX_BREAKPOINTS + 1; ++i) {
    std::string name = "name " + std::to_string(i);
    heddle::breakpoint(name.c_str()).pause(std::chrono::seconds(0)).first();
  }
  EXPECT_EQ(breakpoint_stats("name 0").arrivals, 1u);
  EXPECT_FALSE(heddle::breakpoint("one too many").pause(kForever).first());
}

}  // namespace
