// SPDX-License-Identifier: Apache-2.0
//
// Threads for tests. No test waits for a time: a pause that must end by a hit is so long that the
// test's own time limit would strike first.
#ifndef HEDDLE_BREAKPOINT_TESTS_THREADS_H_
#define HEDDLE_BREAKPOINT_TESTS_THREADS_H_

#include <chrono>
#include <thread>
#include <utility>

inline constexpr std::chrono::hours kForever{1};

/// Runs the functions, each on a thread of its own, to the end.
template <class... Functions>
void run_all(Functions&&... functions) {
  std::thread threads[] = {std::thread(std::forward<Functions>(functions))...};
  for (std::thread& thread : threads) thread.join();
}

/// Waits in a way that never looks stuck to the engine.
template <class Condition>
void wait_until(Condition&& condition) {
  while (!condition()) std::this_thread::yield();
}

#endif  // HEDDLE_BREAKPOINT_TESTS_THREADS_H_
