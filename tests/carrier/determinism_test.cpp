// SPDX-License-Identifier: Apache-2.0
//
// What reaches a program past Heddle is noticed and named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/explorer.h"
#include "tests/carrier/executions.h"

namespace heddle::driver {
namespace {

KeptRun run_checked(const std::string& name) {
  const Program program = Program::open(native_program(name).string(), [](std::string_view) {});
  ExploreLimits limits;
  limits.check_determinism = true;
  Inputs inputs;
  inputs.arguments = {name};
  inputs.directory = "/";
  return run_once(program, inputs, abi::Options{}, {}, limits);
}

TEST(Determinism, OfAControlledProgramHolds) {
  EXPECT_EQ(run_checked("counts").leak, std::nullopt);
}

// Another strategy finds a schedule than the one that follows it.
TEST(Determinism, HoldsForWhatLiesOnDeadStacks) {
  EXPECT_EQ(run_checked("reads_dead_stack").leak, std::nullopt);
}

TEST(Determinism, HoldsForWhatLiesOnDeadStacksHoweverTheExecutionCameAbout) {
  const auto program = native_program("reads_dead_stack");
  Executions executions(program, {});
  const Footprint first = executions.run(1);  // makes its threads itself
  EXPECT_THAT(first.output, testing::HasSubstr("saw"));
  for (int i = 2; i <= 4; ++i) EXPECT_EQ(executions.run(1), first) << "execution " << i;
  executions.run(2);
  EXPECT_EQ(executions.run(1), first) << "after another schedule";
  executions.use({.reset = "fork"});
  EXPECT_EQ(executions.run(1), first) << "forked";
  Executions again(program, {.carrier = "kernel"});
  EXPECT_EQ(again.run(1), first) << "kernel threads, in another process";
}

TEST(Determinism, IsLostThroughOutputThatHeddleDoesNotControl) {
  const auto leak = run_checked("prints_cycles").leak;
  ASSERT_TRUE(leak);
  EXPECT_THAT(*leak, testing::HasSubstr("standard output differs in line 2"));
}

TEST(Determinism, IsLostWhereTheFirstEventDiffers) {
  const auto leak = run_checked("sleeps_by_cycles").leak;
  ASSERT_TRUE(leak);
  EXPECT_THAT(*leak, testing::HasSubstr("sleep"));
}

}  // namespace
}  // namespace heddle::driver
