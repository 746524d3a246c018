// SPDX-License-Identifier: Apache-2.0
#include "driver/step_order.h"

#include <gtest/gtest.h>

namespace heddle::driver {
namespace {

using trace::Step;
using trace::StepKind;

constexpr abi::Variant kAll = {abi::VariantBase::Full, abi::Variant::Loops | abi::Variant::Calls};
constexpr trace::SiteIndex kOuter = 1, kOuterLoop = 2, kInner = 3, kInnerLoop = 4;

/// Kinds and sites of what comes out, for one thread.
std::vector<std::pair<StepKind, trace::SiteIndex>> ordered(abi::Variant variant,
                                                           const std::vector<Step>& steps) {
  StepOrder order(variant);
  std::vector<Step> result;
  for (const Step& step : steps) order.add(step, result);
  std::vector<std::pair<StepKind, trace::SiteIndex>> kinds;
  for (const Step& step : result) kinds.emplace_back(step.kind, step.site);
  return kinds;
}

const std::vector<Step> kEntered = {{StepKind::CallEnter, 0, kOuter, 0, 100},
                                    {StepKind::LoopEnter, 0, kOuterLoop, 0, 0},
                                    {StepKind::CallEnter, 0, kInner, 0, 50},
                                    {StepKind::LoopEnter, 0, kInnerLoop, 0, 0}};

TEST(StepOrder, PutsInTheExitsOfWhatAnExceptionLeft) {
  std::vector<Step> steps = kEntered;
  steps.push_back({StepKind::Landed, 0, kOuterLoop, 7, 100});
  using Kinds = std::vector<std::pair<StepKind, trace::SiteIndex>>;
  EXPECT_EQ(ordered(kAll, steps), (Kinds{{StepKind::CallEnter, kOuter},
                                         {StepKind::LoopEnter, kOuterLoop},
                                         {StepKind::CallEnter, kInner},
                                         {StepKind::LoopEnter, kInnerLoop},
                                         {StepKind::LoopExit, kInnerLoop},
                                         {StepKind::CallExit, kInner}}));
  // Landed outside of its loop as well; calls were not asked for.
  steps.back().site = kOuter;
  EXPECT_EQ(ordered({abi::VariantBase::Full, abi::Variant::Loops}, steps),
            (Kinds{{StepKind::LoopEnter, kOuterLoop},
                   {StepKind::LoopEnter, kInnerLoop},
                   {StepKind::LoopExit, kInnerLoop},
                   {StepKind::LoopExit, kOuterLoop}}));
}

TEST(StepOrder, KeepsTheLoopOfTheOuterInvocationInARecursion) {
  const std::vector<Step> steps = {{StepKind::CallEnter, 0, kOuter, 0, 100},
                                   {StepKind::LoopEnter, 0, kOuterLoop, 0, 0},
                                   {StepKind::CallEnter, 0, kOuter, 0, 50},
                                   {StepKind::LoopEnter, 0, kOuterLoop, 0, 0},
                                   {StepKind::Landed, 0, kOuterLoop, 7, 100}};
  const auto result = ordered(kAll, steps);
  ASSERT_EQ(result.size(), 6u);
  EXPECT_EQ(result[4].first, StepKind::LoopExit);
  EXPECT_EQ(result[5].first, StepKind::CallExit);
}

TEST(StepOrder, KeepsThreadsApart) {
  std::vector<Step> steps = kEntered;
  steps.push_back({StepKind::Landed, 1, kOuter, 7, 100});
  EXPECT_EQ(ordered(kAll, steps).size(), 4u);
}

TEST(StepOrder, ClosesWhatEndedOutsideInstrumentedCode) {
  std::vector<Step> steps = kEntered;
  steps.push_back({StepKind::LoopIteration, 0, kOuterLoop, 7, 0});
  const auto result = ordered(kAll, steps);
  ASSERT_EQ(result.size(), 7u);
  EXPECT_EQ(result[4], std::pair(StepKind::LoopExit, kInnerLoop));
  EXPECT_EQ(result[5], std::pair(StepKind::CallExit, kInner));
}

}  // namespace
}  // namespace heddle::driver
