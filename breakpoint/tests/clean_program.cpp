// SPDX-License-Identifier: Apache-2.0
//
// Uses every part of the header from many threads and has no race of its own: whatever a race
// detector reports here is ours. Plain C++ without a test framework, so that it builds with any
// standard library.
#include <heddle/breakpoint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "threads.h"

namespace {

// Checkers slow a program down a lot; whoever waits for a partner that comes must not give up.
constexpr std::chrono::minutes kLong{10};
constexpr std::chrono::milliseconds kShort{5};

void check(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

void conflicts_and_orders() {
  int shared = 0;  // plain: the turns order the accesses, as a lock would
  for (int i = 0; i < 20; ++i) {
    run_all(
        [&] { heddle::conflict("clean order", &shared).pause(kLong).first([&] { shared += 1; }); },
        [&] {
          heddle::conflict("clean order", &shared).pause(kLong).second([&] { shared *= 2; });
        });
  }
  check(shared == 2097150, "turns are in order");
  check(heddle::breakpoint_stats("clean order").hits == 20, "each round hits");
}

void predicates_and_many_sides() {
  auto same = [](int a, int b, int c) { return a == b && b == c; };
  std::mutex mutex;
  int hits = 0;
  auto side = [&](unsigned k) {
    return [&, k] {
      bool hit = heddle::breakpoint<3>("clean three", 5)
                     .where(same)
                     .when([] { return true; })
                     .pause(kLong)
                     .order(kShort)
                     .side(k);
      std::lock_guard lock(mutex);
      hits += hit;
    };
  };
  run_all(side(0), side(1), side(2));
  check(hits == 3, "three sides meet");
}

void refinements_in_a_crowd() {
  std::mutex mutex;
  int object = 0;
  auto worker = [&] {
    for (int i = 0; i < 200; ++i) {
      heddle::Context context("crowd");
      heddle::conflict("clean crowd", &object)
          .pause(kShort)
          .order(kShort)
          .ignore_first(20)
          .bound(3)
          .under("crowd")
          .any();
      heddle::HoldingLock<std::mutex> guard(mutex);
      heddle::breakpoint("clean held")
          .pause(kShort)
          .give_up(2)
          .while_holding(&mutex)
          .after("clean crowd")
          .first();
    }
  };
  run_all(worker, worker, worker, worker);
  check(heddle::breakpoint_stats("clean crowd").hits <= 3, "bound is kept");
}

void schedules() {
  heddle::Schedule schedule("clean schedule", {"a", "b", "c"}, kLong);
  int shared = 0;
  run_all(
      [&] {
        schedule.step("a", [&] { shared = 1; });
        schedule.step("c", [&] { shared += 5; });
      },
      [&] { schedule.step("b", [&] { shared *= 10; }); });
  check(shared == 15 && schedule.followed(), "schedule is followed");
}

void switching_while_running() {
  int object = 0;
  auto worker = [&] {
    for (int i = 0; i < 100; ++i) heddle::conflict("clean switch", &object).pause(kShort).any();
  };
  run_all(worker, worker, [] {
    for (int i = 0; i < 20; ++i) {
      heddle::enable_breakpoints(i % 2 != 0);
      heddle::breakpoint_stats("clean switch");
    }
  });
}

void fork_in_between() {
  int object = 0;
  std::thread postponed([&] { heddle::conflict("clean fork", &object).pause(kLong).first(); });
  wait_until([] { return heddle::breakpoint_stats("clean fork").arrivals == 1; });
  pid_t child = fork();
  if (child == 0) _exit(heddle::breakpoint_stats("clean fork").arrivals == 0 ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  check(status == 0, "the child counts from zero");
  check(heddle::conflict("clean fork", &object).pause(kLong).second(), "the parent goes on");
  postponed.join();
}

}  // namespace

int main() {
  // libc++ initialises itself in its first thread in a way that Helgrind takes for a race.
  run_all([] {});
  conflicts_and_orders();
  predicates_and_many_sides();
  refinements_in_a_crowd();
  schedules();
  switching_while_running();
  fork_in_between();
}
