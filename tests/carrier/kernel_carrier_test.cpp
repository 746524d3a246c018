// SPDX-License-Identifier: Apache-2.0
//
// Kernel threads that pass a token do, event for event, what fibers do.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/carrier/executions.h"

namespace heddle::driver {
namespace {

std::vector<std::uint64_t> first_seeds(std::uint64_t count) {
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = 1; seed <= count; ++seed) seeds.push_back(seed);
  return seeds;
}

class KernelCarrierOn : public testing::TestWithParam<std::string> {};

TEST_P(KernelCarrierOn, GivesTheSameEvents) {
  for (const char* version : {"buggy", "fixed"}) {
    const auto program = corpus_program(GetParam(), version);
    const auto arguments = corpus_arguments(GetParam());
    Executions fibers(program, {.reset = "fork"}, arguments);
    Executions threads(program, {.carrier = "kernel"}, arguments);
    const std::vector<std::uint64_t> seeds = first_seeds(40);
    const std::vector<Footprint> expected = fibers.run_all(seeds);
    const std::vector<Footprint> actual = threads.run_all(seeds);
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      ASSERT_EQ(actual[i], expected[i]) << version << ", seed " << seeds[i];
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Corpus, KernelCarrierOn, testing::ValuesIn(corpus_names()),
                         [](const auto& info) { return info.param; });

class KernelCarrierWith : public testing::TestWithParam<const char*> {};

TEST_P(KernelCarrierWith, GivesTheSameEvents) {
  const auto program = native_program(GetParam());
  Executions fibers(program, {.reset = "fork"});
  Executions threads(program, {.carrier = "kernel"});
  const std::vector<std::uint64_t> seeds = first_seeds(10);
  EXPECT_EQ(threads.run_all(seeds), fibers.run_all(seeds));
}
constexpr const char* kPrograms[] = {"counts",          "exits_in_thread",        "aborts",
                                     "crashes",         "overflows_thread_stack", "deadlocks",
                                     "handles_signals", "uses_thread_locals",     "exits_thread",
                                     "big_stacks",      "forks_and_waits"};
INSTANTIATE_TEST_SUITE_P(Programs, KernelCarrierWith, testing::ValuesIn(kPrograms),
                         [](const auto& info) { return std::string(info.param); });

TEST(KernelCarrier, HasRealThreads) {
  Executions threads(native_program("counts_kernel_threads"), {.carrier = "kernel"});
  EXPECT_EQ(threads.run(1).output, "3 kernel threads\n");
}

TEST(KernelCarrier, CanFollowAndPrecedeFibersInOneTarget) {
  Executions executions(native_program("counts"), {});
  const Footprint first = executions.run(1);
  executions.run(2);
  executions.use({.carrier = "kernel"});
  EXPECT_EQ(executions.run(1), first);
  executions.use({});
  EXPECT_EQ(executions.run(1), first);
}

}  // namespace
}  // namespace heddle::driver
