// SPDX-License-Identifier: Apache-2.0
#include "trace/compare.h"

#include <gtest/gtest.h>

#include <functional>

#include "sample_traces.h"
#include "trace/course.h"

namespace heddle::trace {
namespace {

std::optional<Difference> after(const std::function<void(Trace&)>& change) {
  Trace changed = sample::lost_update();
  change(changed);
  return first_difference(sample::lost_update(), changed);
}

TEST(Compare, FindsNoneInEqualTraces) {
  EXPECT_FALSE(first_difference(sample::deadlock(), sample::deadlock()));
}

TEST(Compare, SaysWhatDiffersOnSourceLines) {
  auto difference = after([](Trace& t) { t.events[9].value = 2; });
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->event, 9u);
  EXPECT_EQ(difference->field, "value");
  EXPECT_EQ(to_text(*difference),
            "event 9: other value: "
            "expected t0.1 store counter = 1 (4 bytes) at counter.c:9:11 (worker); "
            "actual t0.1 store counter = 2 (4 bytes) at counter.c:9:11 (worker)");
}

TEST(Compare, FindsEveryField) {
  const std::pair<const char*, std::function<void(Trace&)>> cases[] = {
      {"thread", [](Trace& t) { t.events[4].thread = 0; }},
      {"site", [](Trace& t) { t.events[4].site = 0; }},
      {"kind", [](Trace& t) { t.events[4].kind = EventKind::AtomicLoad; }},
      {"object", [](Trace& t) { t.events[4].object = kNone; }},
      {"offset", [](Trace& t) { t.events[4].offset = 1; }},
      {"size", [](Trace& t) { t.events[4].size = 8; }},
      {"value", [](Trace& t) { t.events[4].value = 8; }},
      {"value", [](Trace& t) { t.events[1].value = 2; }},
      {"aux", [](Trace& t) { t.events[4].aux = 8; }},
      {"number of events", [](Trace& t) { t.events.pop_back(); }},
      {"number of events", [](Trace& t) { t.events.push_back(t.events.back()); }},
      {"outcome", [](Trace& t) { t.outcome.kind = FailureKind::None; }},
      {"exit code", [](Trace& t) { t.outcome.exit_code = 1; }},
      {"signal", [](Trace& t) { t.outcome.signal = 1; }},
      {"thread of the failure", [](Trace& t) { t.outcome.thread = 1; }},
      {"place of the failure", [](Trace& t) { t.outcome.site = 1; }},
      {"place that freed the memory", [](Trace& t) { t.outcome.related_site = 1; }},
      {"message", [](Trace& t) { t.outcome.message = "counter == 3"; }},
      {"place of the failure", [](Trace& t) { t.outcome.line = 20; }},
      {"wait", [](Trace& t) { t.outcome.waits.emplace_back(); }},
      {"threads", [](Trace& t) { t.threads.push_back({"t0.3", 0}); }},
      {"objects", [](Trace& t) { t.objects[0].size = 8; }},
      {"sites", [](Trace& t) { t.sites[0].frames[0].line = 16; }},
      {"sites", [](Trace& t) { t.sites.push_back({"new+1.load.1", "", {}}); }},
  };
  for (const auto& [field, change] : cases) {
    auto difference = after(change);
    ASSERT_TRUE(difference) << field;
    EXPECT_EQ(difference->field, field);
    EXPECT_NE(difference->expected, difference->actual);
  }
}

TEST(Compare, ReportsTheEarliestEvent) {
  auto difference = after([](Trace& t) {
    t.outcome.kind = FailureKind::None;
    t.events[7].value = 5;
    t.events[6].value = 5;
  });
  EXPECT_EQ(difference->event, 6u);
}

TEST(Compare, SaysWhereTheShorterRunEnded) {
  auto difference = after([](Trace& t) { t.events.resize(12); });
  EXPECT_EQ(difference->event, 12u);
  EXPECT_EQ(difference->expected, "t0 thread_join t0.2 at counter.c:18:3 (main)");
  EXPECT_EQ(difference->actual, "the end of the run");
}

TEST(Compare, IgnoresTheOrderOfTheTables) {
  // The same run, with the tables in another order.
  EXPECT_FALSE(after([](Trace& t) {
    std::swap(t.threads[1], t.threads[2]);
    std::swap(t.sites[0], t.sites[5]);
    for (Event& event : t.events) {
      if (event.thread != 0) event.thread = 3 - event.thread;
      if (event.site == 0 || event.site == 5) event.site = 5 - event.site;
      if (event.kind == EventKind::ThreadCreate || event.kind == EventKind::ThreadJoin)
        event.value = 3 - event.value;
    }
  }));
}

TEST(Compare, NamesTheThreadASignalWoke) {
  Trace expected = sample::lost_wakeup();
  expected.events[8].value = 1;
  expected.events[8].aux = 2;
  Trace actual = expected;
  actual.events[8].aux = 1;
  auto difference = first_difference(expected, actual);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->expected, "t0 cond_signal arrived woke t0.1 at mailbox.c:22:3 (main)");
}

TEST(Compare, LooksAtStepsOnlyWhereBothHaveThem) {
  const Trace plain = sample::lost_update();
  const Trace with_steps = sample::loop();
  EXPECT_FALSE(first_difference(plain, with_steps));
  EXPECT_FALSE(first_difference(with_steps, plain));
  EXPECT_FALSE(first_difference(with_steps, with_steps));
  Trace other = with_steps;
  other.steps[3].value = 0;
  EXPECT_EQ(first_difference(with_steps, other)->field, "step 3");
}

std::optional<std::string> other_course_after(const std::function<void(Trace&)>& change) {
  Trace changed = sample::lost_update();
  change(changed);
  return other_course(sample::lost_update(), changed);
}

TEST(Course, IsTheSameWhereOnlyValuesAndPlacesOnStacksDiffer) {
  EXPECT_FALSE(other_course(sample::deadlock(), sample::deadlock()));
  EXPECT_FALSE(other_course_after([](Trace& t) { t.events[9].value = 2; }));
  Trace left = sample::lost_update();
  left.objects[left.events[9].object].kind = ObjectKind::Stack;
  Trace right = left;
  right.events[9].offset += 8;
  EXPECT_FALSE(other_course(left, right));
}

TEST(Course, IsAnotherWhereEventsOrTheEndDiffer) {
  EXPECT_TRUE(other_course_after([](Trace& t) { t.events[9].offset += 4; }));
  EXPECT_TRUE(other_course_after([](Trace& t) { t.events[9].kind = EventKind::Load; }));
  EXPECT_TRUE(other_course_after([](Trace& t) { t.events[9].thread ^= 1; }));
  EXPECT_TRUE(other_course_after([](Trace& t) { t.events[9].site ^= 1; }));
  EXPECT_TRUE(other_course_after([](Trace& t) { t.events[9].size = 1; }));
  EXPECT_TRUE(other_course_after([](Trace& t) { t.events.pop_back(); }));
  EXPECT_TRUE(other_course_after([](Trace& t) { t.outcome.line += 1; }));
  EXPECT_TRUE(other_course_after([](Trace& t) { t.threads.push_back({"t0.9", 0}); }));
}

}  // namespace
}  // namespace heddle::trace
