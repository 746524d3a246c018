// SPDX-License-Identifier: Apache-2.0
//
// What a breakpoint costs that does nothing: disabled, or enabled and not matching, beside an empty
// call and a mutex.
#include <benchmark/benchmark.h>
#include <heddle/breakpoint.h>

#include <mutex>

namespace {

int object;
std::mutex mutex;

__attribute__((noinline)) void empty_call() {
  asm volatile("");
}

void BM_EmptyCall(benchmark::State& state) {
  for (auto _ : state) empty_call();
}
BENCHMARK(BM_EmptyCall);

void BM_MutexLockUnlock(benchmark::State& state) {
  for (auto _ : state) {
    mutex.lock();
    benchmark::ClobberMemory();
    mutex.unlock();
  }
}
BENCHMARK(BM_MutexLockUnlock);

void BM_Disabled(benchmark::State& state) {
  heddle::enable_breakpoints(false);
  for (auto _ : state) benchmark::DoNotOptimize(heddle::conflict("bench", &object).first());
  heddle::enable_breakpoints(true);
}
BENCHMARK(BM_Disabled);

void BM_LocalPredicateFalse(benchmark::State& state) {
  int n = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        heddle::conflict("bench", &object).when([&] { return n == 1; }).first());
    benchmark::DoNotOptimize(n);
  }
}
BENCHMARK(BM_LocalPredicateFalse);

void BM_IgnoredArrival(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(heddle::conflict("bench ignored", &object).ignore_first(~0ul).first());
  }
}
BENCHMARK(BM_IgnoredArrival);

void BM_BoundReached(benchmark::State& state) {
  // Given up after one pause in vain: what remains of a breakpoint that is over.
  heddle::conflict("bench over", &object).pause(std::chrono::milliseconds(1)).give_up(1).first();
  for (auto _ : state) {
    benchmark::DoNotOptimize(heddle::conflict("bench over", &object).give_up(1).first());
  }
}
BENCHMARK(BM_BoundReached);

void BM_WrongContext(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(heddle::conflict("bench context", &object).under("other").first());
  }
}
BENCHMARK(BM_WrongContext);

}  // namespace

BENCHMARK_MAIN();
