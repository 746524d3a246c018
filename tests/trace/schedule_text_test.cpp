// SPDX-License-Identifier: Apache-2.0
#include "trace/schedule_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "expect_error.h"
#include "sample_traces.h"

namespace heddle::trace {
namespace {

using sample::error_of;
using testing::HasSubstr;

const std::string kHeader =
    "heddle-schedule 1\nprogram ./a\nbuild-id 12ab\nmemory-model sc\nargument x\n";
const std::string kDecision = "switch t0 @1 f+1.load.1 #1 load -> t0.1";

std::string error_in_schedule(const std::string& text) {
  return error_of([&] { parse_schedule(text, "bug.schedule"); });
}

std::string error_in_line(const std::string& line) {
  return error_in_schedule(kHeader + line + "\nend 1\n");
}

TEST(ScheduleText, ReadsBackWhatItWrites) {
  Schedule schedule = sample::lost_update_schedule();
  EXPECT_EQ(parse_schedule(to_text(schedule), "x"), schedule);
  EXPECT_EQ(parse_schedule(to_text(Schedule{}), "x"), Schedule{});
}

TEST(ScheduleText, ReadsBackAnyBytesInWords) {
  std::mt19937 random(1);
  const std::string alphabet = std::string("ab #\"\\\n\t\r->\x7f\xc3\xa4\xff", 16) + '\0';
  auto word = [&] {
    std::string text;
    for (auto left = random() % 6; left > 0; --left) text += alphabet[random() % alphabet.size()];
    return text;
  };
  for (int i = 0; i < 20000; ++i) {
    Schedule schedule;
    schedule.program = word();
    schedule.build_id = word();
    schedule.memory_model = word();
    schedule.arguments = {word(), word()};
    schedule.absent_threads = {"t0.3", "t0.1.2"};
    if (i % 2 == 0) schedule.skipped = {{"t0.1", word(), 1, 6}, {"t0.2", "a", 9, 9}};
    if (i % 3 == 0) schedule.ends_with = "t0.2";
    if (i % 5 == 0) schedule.overlooked = {word(), "push+4.store.1"};
    Decision decision = sample::lost_update_schedule().decisions[random() % 4];
    decision.site = word();
    decision.where = word();
    schedule.decisions = {decision};
    ASSERT_EQ(parse_schedule(to_text(schedule), "x"), schedule) << to_text(schedule);
  }
}

TEST(ScheduleText, IsReadable) {
  std::string text = to_text(sample::lost_update_schedule());
  EXPECT_THAT(text, HasSubstr("\nargument \"two words\"\n"));
  EXPECT_THAT(text, HasSubstr("\nswitch t0.1 @3 worker+3.store.1 #1 store preempt -> t0.2 of 2"));
  EXPECT_THAT(text, HasSubstr(" # counter.c:9:11\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "\nvalue  t0.2 @7 \"operator()(int, char) const+4.call.1\" #1 cond_signal -> 1 of 3 "));
  EXPECT_TRUE(text.ends_with("\nend 4\n"));
}

TEST(ScheduleText, IsAlwaysUtf8) {
  Schedule schedule;
  schedule.arguments = {"gr\xc3\xbc\xc3\x9f", "\xff"};
  EXPECT_THAT(to_text(schedule), HasSubstr("argument gr\xc3\xbc\xc3\x9f\nargument \"\\xff\"\n"));
}

TEST(ScheduleText, AllowsCommentsBlankLinesAndForeignLineEnds) {
  std::string text = to_text(sample::lost_update_schedule());
  std::string edited;
  for (char c : text)
    edited += c == '\n' ? std::string("\r\n\r\n  # a remark\r\n") : std::string(1, c);
  EXPECT_EQ(parse_schedule(edited, "x"), sample::lost_update_schedule());
}

TEST(ScheduleText, NamesFileLineAndRemedy) {
  std::string message = error_in_line("switch t0 @1 f+1.load.1 #1 laod -> t0.1");
  EXPECT_THAT(message, HasSubstr("bug.schedule:6: expected an event such as mutex_lock, found "
                                 "\"laod\"; correct that line, or make the schedule again"));
}

TEST(ScheduleText, RejectsBadDecisions) {
  const std::pair<const char*, const char*> cases[] = {
      {"swtich t0 @1 f #1 load -> t0.1", "expected `program`"},
      {"switch", "expected a thread such as t0.2, found nothing"},
      {"switch 0 @1 f #1 load -> t0.1", "expected a thread"},
      {"switch t0. @1 f #1 load -> t0.1", "expected a thread"},
      {"switch t0.01 @1 f #1 load -> t0.1", "expected a thread"},
      {"switch t0.1x @1 f #1 load -> t0.1", "expected a thread"},
      {"switch t0 1 f #1 load -> t0.1", "event number such as @12"},
      {"switch t0 @99999999999999999999 f #1 load -> t0.1", "event number such as @12"},
      {"switch t0 @1 f 1 load -> t0.1", "occurrence at the site"},
      {"switch t0 @1 f #-1 load -> t0.1", "occurrence at the site"},
      {"switch t0 @1 f #1 load t0.1", "expected `->`, found \"t0.1\""},
      {"switch t0 @1 f #1 load -> 1 of 3", "expected a thread"},
      {"switch t0 @1 f #1 load -> t0.1 extra", "expected the end of the line, found \"extra\""},
      {"value t0 @1 f #1 load -> t0.1", "expected a number"},
      {"value t0 @1 f #1 load -> 1", "expected `of`, found nothing"},
      {"value t0 @1 f #1 load -> 3 of 3", "expected a bound above 3"},
      {"switch t0 @1 \"f #1 load -> t0.1", "quoted word"},
      {"switch t0 @1 \"f\\q\" #1 load -> t0.1", "quoted word"},
      {"switch t0 @1 f\x01 #1 load -> t0.1", "control character"},
  };
  for (const auto& [line, expected] : cases) {
    std::string message = error_in_line(line);
    EXPECT_THAT(message, HasSubstr(expected)) << line;
    EXPECT_THAT(message, HasSubstr("bug.schedule:6: ")) << line;
  }
}

TEST(ScheduleText, RejectsBadHeaders) {
  EXPECT_THAT(error_in_schedule("heddle-schedule 1\nprogram a\nprogram b\nend 0\n"),
              HasSubstr(":3: expected only one `program` line"));
  EXPECT_THAT(error_in_schedule("heddle-schedule 1\nprogram a\nmemory-model sc\nend 0\n"),
              HasSubstr(":4: expected a `build-id` line before this one"));
  EXPECT_THAT(error_in_schedule("heddle-schedule 1\nprogram\nend 0\n"),
              HasSubstr(":2: expected a word after `program`, found nothing"));
  EXPECT_THAT(error_in_schedule(kHeader + kDecision + "\nargument late\nend 1\n"),
              HasSubstr(":7: expected `switch`, `value` or `end`, found \"argument\""));
}

TEST(ScheduleText, NoticesThatItWasCutOffAnywhere) {
  std::string text = to_text(sample::lost_update_schedule());
  // Without the last newline it is still whole.
  for (std::size_t length = 0; length + 1 < text.size(); ++length) {
    std::string message = error_in_schedule(text.substr(0, length));
    EXPECT_THAT(message, HasSubstr("bug.schedule:")) << length;
  }
  EXPECT_THAT(error_in_schedule(kHeader + kDecision + "\n"), HasSubstr("cut off after line 6"));
  EXPECT_THAT(error_in_schedule(kHeader + kDecision + "\nend 2\n"),
              HasSubstr(":7: expected `end 1` after as many decisions"));
  EXPECT_THAT(error_in_schedule(kHeader + kDecision + "\nend 0\n"),
              HasSubstr(":7: expected `end 1` after as many decisions"));
  EXPECT_THAT(error_in_schedule(kHeader + kDecision + "\nend 1\nend 1\n"),
              HasSubstr(":8: expected nothing after `end`"));
}

TEST(ScheduleText, RejectsForeignEmptyAndNewerFiles) {
  EXPECT_THAT(error_in_schedule(""), HasSubstr("the file is empty"));
  EXPECT_THAT(error_in_schedule("\n\n"), HasSubstr("the file is empty"));
  EXPECT_THAT(error_in_schedule("int main(void) {}\n"), HasSubstr("not a Heddle schedule"));
  EXPECT_THAT(error_in_schedule("heddle-schedule one\n"), HasSubstr("not a Heddle schedule"));
  EXPECT_THAT(error_in_schedule("heddle-schedule 5\nwhatever\n"),
              HasSubstr("format version 5, this Heddle reads up to 4; update Heddle"));
}

TEST(ScheduleText, TheThreadThatEndsTheRun) {
  Schedule schedule = sample::lost_update_schedule();
  schedule.ends_with = "t0.2";
  const std::string text = to_text(schedule);
  EXPECT_THAT(text, HasSubstr("\nends t0.2\n"));
  EXPECT_EQ(parse_schedule(text, "x"), schedule);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    return changed.replace(changed.find(from), from.size(), to);
  };
  EXPECT_THAT(error_in_schedule(with("ends t0.2", "ends main")),
              HasSubstr("a thread such as t0.1"));
  EXPECT_THAT(error_in_schedule(with("ends t0.2", "ends t0.2\nends t0.1")), HasSubstr("ends"));
  EXPECT_THAT(error_in_schedule(with("heddle-schedule 3", "heddle-schedule 2")),
              HasSubstr("found \"ends\""));
}

TEST(ScheduleText, SkippedIterations) {
  Schedule schedule = sample::lost_update_schedule();
  EXPECT_TRUE(to_text(schedule).starts_with("heddle-schedule 1\n"));
  schedule.skipped = {{"t0.1", "worker+3.call.1", 2, 7}};
  const std::string text = to_text(schedule);
  EXPECT_TRUE(text.starts_with("heddle-schedule 2\n"));
  EXPECT_THAT(text, HasSubstr("\nskip t0.1 worker+3.call.1 #2 #7\n"));
  const auto with = [&](std::string_view line) {
    std::string changed = text;
    changed.replace(changed.find("skip "),
                    changed.find('\n', changed.find("skip ")) - changed.find("skip "), line);
    return changed;
  };
  EXPECT_THAT(error_in_schedule(with("skip t0.1 worker+3.call.1 #7 #2")), HasSubstr("from 7 on"));
  EXPECT_THAT(error_in_schedule(with("skip main worker+3.call.1 #1 #2")), HasSubstr("a thread"));
  EXPECT_THAT(error_in_schedule(with("skip t0.1 worker+3.call.1 #1")),
              HasSubstr("the last iteration"));
  std::string old = text;
  old.replace(0, 17, "heddle-schedule 1");
  EXPECT_THAT(error_in_schedule(old), HasSubstr("found \"skip\""));
}

TEST(ScheduleText, RefusesToWriteWhatItCouldNotRead) {
  auto defect_of = [](auto change) {
    Schedule schedule = sample::lost_update_schedule();
    change(schedule.decisions);
    return error_of([&] { to_text(schedule); }, ExitCode::Defect);
  };
  EXPECT_THAT(defect_of([](auto& d) { d[0].thread = "main"; }), HasSubstr("thread \"main\""));
  EXPECT_THAT(defect_of([](auto& d) { d[0].target = ""; }), HasSubstr("for thread \"\""));
  EXPECT_THAT(defect_of([](auto& d) { d[2].value = 3; }), HasSubstr("3 of 3"));
  EXPECT_THAT(defect_of([](auto& d) { d[2].pending = abi::EventKind{999}; }), HasSubstr("999"));
}

TEST(ScheduleText, NamesAFileThatIsNotThere) {
  EXPECT_THAT(error_of([] { read_schedule("/nowhere/bug.schedule"); }),
              HasSubstr("cannot read /nowhere/bug.schedule: No such file"));
}

}  // namespace
}  // namespace heddle::trace
