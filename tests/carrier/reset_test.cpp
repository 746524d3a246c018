// SPDX-License-Identifier: Apache-2.0
//
// An execution that is undone in place leaves nothing behind: whatever ran before, the next one is
// byte for byte what a fresh process would have done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <set>

#include "tests/carrier/executions.h"

namespace heddle::driver {
namespace {

const std::vector<std::uint64_t> kSeeds = {1, 2, 3, 4, 5, 6, 7, 8, 3, 3, 1, 8, 2, 20, 21, 22, 5};

/// Do executions share a process?
enum class Shares { Yes, No, DependsOnLayout };

struct Case {
  const char* program;
  int status;  // of every execution, as wait(2) gives it; -2: not checked
  Shares shares;
  const char* why;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.program;
}

constexpr int exited(int code) {
  return code << 8;
}

class ResetOf : public testing::TestWithParam<Case> {};

TEST_P(ResetOf, GivesWhatFreshProcessesGive) {
  const auto program = native_program(GetParam().program);
  Executions fresh(program, {.reset = "fork"});
  Executions reused(program, {.reset = "inplace"});
  const std::vector<Footprint> expected = fresh.run_all(kSeeds);
  const std::vector<Footprint> actual = reused.run_all(kSeeds);
  EXPECT_EQ(fresh.reset().processes, kSeeds.size());
  for (std::size_t i = 0; i < kSeeds.size(); ++i) {
    EXPECT_EQ(actual[i], expected[i]) << "execution " << i << " with seed " << kSeeds[i];
    if (GetParam().status != -2) EXPECT_EQ(actual[i].status, GetParam().status);
  }
}

TEST_P(ResetOf, HappensInPlaceWherePossible) {
  Executions executions(native_program(GetParam().program), {});
  executions.run_all(kSeeds);
  if (GetParam().shares == Shares::Yes) {
    // The first worker goes when it turns out how many threads there are.
    EXPECT_LE(executions.reset().processes, 2u);
  } else if (GetParam().shares == Shares::No) {
    EXPECT_EQ(executions.reset().processes, kSeeds.size());
    EXPECT_NE(executions.target().reset_obstacle(), abi::ResetObstacle::None);
  }
}

constexpr Case kCases[] = {
    {"counts", exited(0), Shares::Yes, "threads, output, a heap"},
    {"returns", exited(3), Shares::Yes, "main returns a status"},
    {"exits_with_handlers", exited(4), Shares::Yes, "exit() with handlers and unflushed output"},
    {"exits_in_thread", exited(5), Shares::Yes, "exit() in another thread"},
    {"exits_at_once", exited(6), Shares::Yes, "_exit()"},
    {"exits_quickly", exited(7), Shares::No, "quick_exit()"},
    {"exits_raw", exited(8), Shares::No, "a system call made by hand"},
    {"exits_holding_stream", exited(0), Shares::No, "exit() while a thread holds a stream"},
    {"aborts", SIGABRT, Shares::Yes, "abort()"},
    {"asserts", SIGABRT, Shares::Yes, "a failed assertion"},
    {"crashes", SIGSEGV, Shares::Yes, "a null pointer"},
    {"overflows_stack", SIGSEGV, Shares::Yes, "endless recursion"},
    {"overflows_thread_stack", SIGSEGV, Shares::Yes, "the same in a thread"},
    {"corrupts_memory", SIGSEGV, Shares::Yes, "writes over everything it can reach"},
    {"corrupts_libc", SIGSEGV, Shares::DependsOnLayout, "overwrites libc's and the runtime's data"},
    {"kills_itself", SIGKILL, Shares::No, "SIGKILL"},
    {"terminates_itself", SIGTERM, Shares::No, "SIGTERM with the default action"},
    {"deadlocks", -2, Shares::Yes, "stopped by the runtime"},
    {"opens_files", exited(0), Shares::Yes, "descriptors left open, standard ones replaced"},
    {"changes_flags", exited(0), Shares::Yes, "what is closed when a program is executed"},
    {"closes_all", exited(0), Shares::No, "closes every descriptor there is"},
    {"maps_memory", exited(0), Shares::Yes, "mappings left behind, the break moved"},
    {"unmaps_own_library", exited(0), Shares::No, "changes mappings it did not make"},
    {"handles_signals", exited(0), Shares::Yes, "handlers, masks and stacks left behind"},
    {"leaves_signal_pending", exited(0), Shares::No, "a blocked signal stays pending"},
    {"forks_and_waits", exited(0), Shares::Yes, "a child that is waited for"},
    {"forks_and_leaves", exited(0), Shares::No, "a child that is not"},
    {"changes_directory", exited(0), Shares::Yes, "working directory and file mask"},
    {"sets_limits", exited(0), Shares::Yes, "resource limits, which may be raised again"},
    {"changes_identity", exited(0), Shares::No,
     "another group, or limits that may not be raised again"},
    {"keeps_identity", exited(0), Shares::Yes,
     "sets limits and identity to what they are; leaves groups"},
    {"sets_timer", exited(0), Shares::Yes, "a timer that goes on"},
    {"loads_library", exited(0), Shares::Yes, "dlopen and thread-local storage of a library"},
    {"reads_input", exited(0), Shares::Yes, "standard input from its beginning"},
    {"records_much", exited(0), Shares::Yes, "more events than there are pages for at first"},
    {"allocates_much", exited(0), Shares::Yes, "large blocks, given back and not"},
    {"frees_early_memory", exited(0), Shares::Yes,
     "gives back pages that were there before it began"},
    {"uses_thread_locals", exited(0), Shares::Yes,
     "thread_local variables, keys and their destructors"},
    {"exits_thread", exited(0), Shares::Yes, "pthread_exit, also of the main thread"},
    {"big_stacks", exited(0), Shares::Yes, "threads with large stacks"},
    {"deep_first_stack", exited(0), Shares::Yes, "the first stack grows"},
};
INSTANTIATE_TEST_SUITE_P(Programs, ResetOf, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.program); });

class ResetOfCorpus : public testing::TestWithParam<std::string> {};

TEST_P(ResetOfCorpus, GivesWhatFreshProcessesGive) {
  for (const char* version : {"buggy", "fixed"}) {
    const auto program = corpus_program(GetParam(), version);
    const auto arguments = corpus_arguments(GetParam());
    Executions fresh(program, {.reset = "fork"}, arguments);
    Executions reused(program, {.reset = "inplace"}, arguments);
    std::vector<std::uint64_t> seeds;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) seeds.push_back(seed);
    for (std::uint64_t seed = 100; seed >= 1; --seed) seeds.push_back(seed);
    const std::vector<Footprint> expected = fresh.run_all(seeds);
    const std::vector<Footprint> actual = reused.run_all(seeds);
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      ASSERT_EQ(actual[i], expected[i]) << version << ", execution " << i << ", seed " << seeds[i];
    }
    EXPECT_LE(reused.reset().processes, 4u) << version;
  }
}
INSTANTIATE_TEST_SUITE_P(Corpus, ResetOfCorpus, testing::ValuesIn(corpus_names()),
                         [](const auto& info) { return info.param; });

TEST(Reset, NeedNotUndoWhatStrategiesTookMemoryFor) {
  Executions executions(corpus_program("writers_reader", "fixed"), {.strategy = "urw"});
  abi::PlanRecord weight{};
  weight.kind = abi::DecisionKind::Weight;
  weight.thread = 12345;
  weight.occurrence = 1;
  executions.plan({weight});
  executions.run_all(kSeeds);
  EXPECT_LE(executions.reset().processes, 2u);
  EXPECT_LE(executions.reset().remapped, 1u);  // the first stack grows, once
}

TEST(Reset, DoesNotDrift) {
  Executions executions(native_program("counts"), {});
  const Footprint first = executions.run(7);
  executions.run(7);
  for (int i = 0; i < 1000; ++i) executions.run(static_cast<std::uint64_t>(i));
  const long resident = executions.resident_kilobytes();
  const std::uint64_t processes = executions.reset().processes;
  for (int i = 0; i < 100'000; ++i) executions.run(static_cast<std::uint64_t>(i % 1000));
  EXPECT_EQ(executions.run(7), first);
  EXPECT_EQ(executions.reset().processes, processes);
  EXPECT_LE(executions.resident_kilobytes(), resident + 256);
}

TEST(Addresses, AreTheSameInEverySchedule) {
  for (const char* carrier : {"fiber", "kernel"}) {
    Executions executions(native_program("grandchildren"), {.carrier = carrier});
    const std::string expected = executions.run(1).output;
    EXPECT_THAT(expected, testing::HasSubstr("t0.2.2 "));
    std::set<std::vector<std::uint64_t>> orders;  // in which threads were created
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      EXPECT_EQ(executions.run(seed).output, expected) << carrier << ", seed " << seed;
      std::vector<std::uint64_t> order;
      for (const auto& thread : executions.target().channel().threads()) {
        order.push_back(thread.hash);
      }
      orders.insert(order);
    }
    EXPECT_GT(orders.size(), 1u);
  }
}

TEST(Reset, ForgetsWhereAnEarlierExecutionFailed) {
  Executions executions(native_program("counts"), {});
  const abi::FailureRecord& failure = executions.target().channel().header().failure;
  executions.limit_events(5);
  executions.run(1);
  ASSERT_EQ(failure.kind, abi::FailureKind::NoProgress);
  ASSERT_NE(failure.site, abi::kUnknownSite);
  executions.limit_events(100'000);
  executions.run(1);
  EXPECT_EQ(failure.kind, abi::FailureKind::None);
  // One that hangs would be told to do so there.
  EXPECT_EQ(failure.site, abi::kUnknownSite);
}

TEST(Reset, SaysWhyItCannot) {
  Executions executions(native_program("forks_and_leaves"), {});
  executions.run_all(kSeeds);
  EXPECT_EQ(executions.target().reset_obstacle(), abi::ResetObstacle::Children);
}

TEST(Reset, SurvivesAKilledWorker) {
  Executions executions(native_program("counts"), {});
  const Footprint before = executions.run(1);
  executions.run(2);
  kill(executions.target().channel().header().child, SIGKILL);
  EXPECT_EQ(executions.run(1), before);
}

TEST(Reset, FollowsAChangeOfTheOption) {
  Executions executions(native_program("counts"), {.reset = "inplace"});
  const Footprint before = executions.run(1);
  executions.run(2);
  const std::uint64_t processes = executions.reset().processes;
  executions.use({.reset = "fork"});
  EXPECT_EQ(executions.run(1), before);
  EXPECT_EQ(executions.run(1), before);
  EXPECT_EQ(executions.reset().processes, processes + 2);
  executions.use({.reset = "inplace"});
  EXPECT_EQ(executions.run(1), before);
  EXPECT_EQ(executions.run(1), before);
  EXPECT_EQ(executions.reset().processes, processes + 3);
}

}  // namespace
}  // namespace heddle::driver
