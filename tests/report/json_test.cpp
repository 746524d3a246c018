// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <gtest/gtest.h>

#include "sample_traces.h"

namespace heddle::report {
namespace {

using nlohmann::json;

TEST(Json, OfASignatureHasTheFixedFields) {
  json signature = to_json(trace::signature_of(sample::lost_update()));
  EXPECT_EQ(signature["kind"], "assert");
  EXPECT_EQ(signature["file"], "counter.c");
  EXPECT_EQ(signature["line"], 19);
  EXPECT_EQ(signature["function"], "main");
  EXPECT_EQ(signature["text"], "assert counter.c:19 (main)");
}

TEST(Json, OfADeadlockListsItsPlaces) {
  json signature = to_json(trace::signature_of(sample::deadlock()));
  EXPECT_EQ(signature["line"], 7);
  EXPECT_EQ(signature["places"].size(), 2u);
  EXPECT_EQ(signature["places"][1]["function"], "refund");
}

TEST(Json, OfAFailureWithoutAPlaceHasNulls) {
  json signature = to_json(trace::signature_of(sample::eight_threads()));
  EXPECT_EQ(signature["kind"], "exit");
  EXPECT_TRUE(signature["file"].is_null());
  EXPECT_TRUE(signature["line"].is_null());
  EXPECT_TRUE(signature["function"].is_null());
}

TEST(Json, OfAnOutcomeTellsItsWaits) {
  json outcome = outcome_json(sample::deadlock());
  EXPECT_EQ(outcome["kind"], "deadlock");
  EXPECT_EQ(outcome["waits"].size(), 3u);
  json wait = outcome["waits"][1];
  EXPECT_EQ(wait["thread"], "t0.1");
  EXPECT_EQ(wait["holder"], "t0.2");
  EXPECT_EQ(wait["object"], "b");
  EXPECT_EQ(wait["at"]["line"], 7);
  EXPECT_EQ(wait["taken_at"]["function"], "refund");
  EXPECT_TRUE(outcome["waits"][0]["object"].is_null());
  EXPECT_TRUE(outcome["waits"][0]["taken_at"].is_null());
  EXPECT_TRUE(outcome["thread"].is_null());
  EXPECT_EQ(outcome_json(sample::lost_update())["thread"], "t0");
}

TEST(Json, IsAlwaysValid) {
  trace::Trace trace = sample::lost_update();
  trace.outcome.message = "broken \xff text";
  EXPECT_EQ(outcome_json(trace)["message"], "broken \xef\xbf\xbd text");
  EXPECT_NO_THROW(outcome_json(trace).dump());
}

TEST(Json, OfADifference) {
  trace::Trace changed = sample::lost_update();
  changed.events[9].value = 2;
  json difference = to_json(*trace::first_difference(sample::lost_update(), changed));
  EXPECT_EQ(difference["event"], 9);
  EXPECT_EQ(difference["field"], "value");
  changed = sample::lost_update();
  changed.outcome.kind = trace::FailureKind::None;
  EXPECT_TRUE(to_json(*trace::first_difference(sample::lost_update(), changed))["event"].is_null());
}

TEST(Json, OutcomeHasTheStacks) {
  const json stacks = outcome_json(sample::with_stacks())["stacks"];
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(stacks[1]["thread"], "t0.2");
  EXPECT_EQ(stacks[1]["whole"], false);
  EXPECT_EQ(stacks[1]["frames"][0]["function"], "add");
  EXPECT_EQ(stacks[1]["frames"][1]["line"], 12);
}

}  // namespace
}  // namespace heddle::report
