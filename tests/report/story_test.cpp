// SPDX-License-Identifier: Apache-2.0
//
// The look of a story is kept in golden/; what must hold whatever the look is tested here.
#include "report/text/story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "golden.h"
#include "report/text/cell.h"
#include "report/text/source_lines.h"
#include "sample_traces.h"
#include "trace/words.h"

namespace heddle::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using trace::Trace;

StoryOptions options(std::size_t width = 100) {
  StoryOptions result;
  result.width = width;
  result.source_line = [lines = SourceLines()](const std::string& file,
                                               std::uint32_t line) mutable {
    return lines(std::string(HEDDLE_SOURCE_DIRECTORY "/") + std::string(trace::base_name(file)),
                 line);
  };
  return result;
}

std::vector<std::pair<std::string, Trace>> samples() {
  return {{"lost_update", sample::lost_update()},
          {"deadlock", sample::deadlock()},
          {"use_after_free", sample::use_after_free()},
          {"lost_wakeup", sample::lost_wakeup()},
          {"eight_threads", sample::eight_threads()}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Story, LooksAsKept) {
  std::filesystem::path golden = HEDDLE_GOLDEN_DIRECTORY;
  for (const auto& [name, trace] : samples()) {
    sample::expect_golden(golden / (name + ".txt"), story(trace, options()));
    sample::expect_golden(golden / (name + ".60.txt"), story(trace, options(60)));
  }
  StoryOptions unicode = options();
  unicode.unicode = true;
  sample::expect_golden(golden / "lost_update.unicode.txt", story(sample::lost_update(), unicode));
}

TEST(Story, StaysWithinTheTerminal) {
  for (const auto& [name, trace] : samples())
    for (std::size_t width = 40; width <= 160; width += 7)
      for (bool unicode : {false, true}) {
        StoryOptions chosen = options(width);
        chosen.unicode = unicode;
        for (const std::string& line : lines_of(story(trace, chosen)))
          EXPECT_LE(display_width(line), width) << name << ": " << line;
      }
}

TEST(Story, IsAsciiUnlessUnicodeIsAskedFor) {
  StoryOptions chosen = options();
  chosen.source_line = [](auto&, auto) { return "caf\xc3\xa9(\x1b[31m)"; };
  for (const auto& [name, trace] : samples())
    for (char c : story(trace, chosen))
      ASSERT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f)) << name << " " << static_cast<int>(c);
}

TEST(Story, SaysTheSameInColour) {
  std::regex escape("\x1b\\[[0-9;]*m");
  for (const auto& [name, trace] : samples()) {
    StoryOptions coloured = options();
    coloured.colour = true;
    std::string text = story(trace, coloured);
    EXPECT_THAT(text, HasSubstr("\x1b[1;31m"));
    std::vector<std::string> plain = lines_of(story(trace, options()));
    std::vector<std::string> stripped = lines_of(std::regex_replace(text, escape, ""));
    ASSERT_EQ(plain.size(), stripped.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      stripped[i].erase(stripped[i].find_last_not_of(' ') + 1);
      EXPECT_EQ(stripped[i], plain[i]);
    }
  }
}

TEST(Story, PassesNoControlCharactersOn) {
  Trace trace = sample::lost_update();
  trace.outcome.message = "\x1b]0;owned\x07";
  trace.header.program = "./a\x1b[2J";
  trace.objects[0].name = "coun\x1bter";
  trace.sites[5].frames[0].function = "wor\x1bker";
  for (char c : story(trace, options()))
    ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ');
}

TEST(Story, PassesNoControlCharactersOnInSentences) {
  Trace trace = sample::deadlock();
  for (trace::Object& object : trace.objects) object.name = "lo\x1b[2Jck";
  EXPECT_THAT(story(trace, options()), Not(HasSubstr("\x1b")));
}

TEST(Story, FindsTheSourceOfAnAssertionByItsSite) {
  // The assertion itself knows "counter.c", the compiler the whole path.
  StoryOptions chosen = options();
  chosen.source_line = [](const std::string& file, std::uint32_t line) {
    return file == "/src/counter.c" && line == 19 ? "assert(here)" : "";
  };
  EXPECT_THAT(story(sample::lost_update(), chosen),
              testing::ContainsRegex("X assertion fails +counter.c:19 +assert\\(here\\)"));
}

TEST(Story, TellsADeadlockInSentences) {
  std::string text = story(sample::deadlock(), options());
  EXPECT_THAT(text, HasSubstr("t0.1 holds a (taken at bank.c:6 in pay) and waits for b, held by "
                              "t0.2, at bank.c:7 in pay."));
  EXPECT_THAT(text, HasSubstr("t0.2 holds b (taken at bank.c:14 in refund) and waits for a, held "
                              "by t0.1, at bank.c:15 in refund."));
  EXPECT_THAT(text, HasSubstr("t0 waits for t0.1 to end, at bank.c:25 in main."));
}

TEST(Story, OfADeadlockBlamesNoThreadAlone) {
  Trace trace = sample::deadlock();
  trace.outcome.thread = 1;
  EXPECT_EQ(story(trace, options()), story(sample::deadlock(), options()));
}

TEST(Story, TellsOfALockTakenTwice) {
  Trace trace = sample::deadlock();
  trace.outcome.waits[1].holder = trace.outcome.waits[1].thread;
  EXPECT_THAT(story(trace, options(200)), HasSubstr("waits for b, which it holds itself, at"));
}

TEST(Story, TellsALostWakeupInSentences) {
  std::string text = story(sample::lost_wakeup(), options(300));
  EXPECT_THAT(text,
              HasSubstr("t0.1 waits on arrived, at mailbox.c:12 in reader, and nobody is left "
                        "to signal it. arrived was signalled by t0 at mailbox.c:22 in main, "
                        "when nobody waited."));
  // The runtime reports a waiting thread as one that wants its mutex back.
  Trace trace = sample::lost_wakeup();
  trace.outcome.waits[1].kind = trace::EventKind::MutexLock;
  trace.outcome.waits[1].object = 0;
  EXPECT_EQ(story(trace, options(300)), text);
  // A signal that woke somebody was not in vain.
  trace.events[8].value = 1;
  EXPECT_THAT(story(trace, options(300)), Not(HasSubstr("was signalled by")));
}

TEST(Story, TellsWhoFreed) {
  EXPECT_THAT(
      story(sample::use_after_free(), options(200)),
      HasSubstr("t0.1 uses heap t0 #1+4, at shared_buffer.cpp:15 in reader; t0 had freed it, "
                "at shared_buffer.cpp:10 in release."));
}

TEST(Story, OfAPassingRunClaimsNoFailure) {
  Trace trace = sample::lost_update();
  trace.outcome = {};
  std::string text = story(trace, options());
  EXPECT_TRUE(text.starts_with("  the program ended normally\n"));
  EXPECT_THAT(text, Not(HasSubstr("X")));
}

TEST(Story, OfAnEmptyOrUnplacedTraceIsShort) {
  EXPECT_EQ(story(Trace{}, options()),
            "  the program ended normally\n"
            "   - 0 threads - 0 events - 0 context switches\n");
  Trace trace = sample::lost_update();
  trace.sites.clear();
  for (trace::Event& event : trace.events) event.site = trace::kNone;
  trace.outcome.site = trace::kNone;
  trace.complete = false;
  EXPECT_THAT(story(trace, options()), HasSubstr("the trace is cut off"));
}

TEST(Story, CountsThreadsThatDidSomething) {
  Trace trace = sample::lost_update();
  const std::string before = story(trace, options());
  EXPECT_THAT(before, HasSubstr(" - 3 threads - "));
  trace.threads.push_back({"t0.3", 0});  // left out: its creator goes on as if it were there
  EXPECT_EQ(story(trace, options()), before);
}

TEST(Story, OfVeryManyThreadsNamesThem) {
  Trace trace = sample::lost_update();
  for (int i = 3; i < 60; ++i) {
    trace.threads.push_back({"t0." + std::to_string(i), 0});
    trace::Event event = trace.events[4];
    event.thread = static_cast<trace::ThreadId>(i);
    trace.events.insert(trace.events.end() - 1, event);
  }
  std::string text = story(trace, options());
  EXPECT_THAT(text, HasSubstr("  t0.59  reads counter = 0"));
  for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), 100u);
}

TEST(SourceLines, GivesLinesWithoutIndentation) {
  SourceLines lines;
  std::string file = HEDDLE_SOURCE_DIRECTORY "/counter.c";
  EXPECT_EQ(lines(file, 1), "#include <assert.h>");
  EXPECT_EQ(lines(file, 8), "int seen = counter;");
  EXPECT_EQ(lines(file, 21), "}");
  EXPECT_EQ(lines(file, 22), "");
  EXPECT_EQ(lines(file, 0), "");
  EXPECT_EQ(lines(HEDDLE_SOURCE_DIRECTORY, 1), "");
  EXPECT_EQ(lines("/dev/zero", 1), "");
}

TEST(Story, NamesSourceThatIsNotThere) {
  StoryOptions chosen;
  std::string text = story(sample::lost_update(), chosen);
  EXPECT_THAT(text, HasSubstr("counter.c:8\n"));
}

TEST(Story, TellsWhatEveryThreadWasDoing) {
  const std::string text = story(sample::with_stacks(), options());
  EXPECT_THAT(text, HasSubstr("The threads were at:"));
  EXPECT_THAT(text, HasSubstr("t0    main counter.c:19\n"));
  EXPECT_THAT(text, HasSubstr("t0.2  add counter.c:9 < worker counter.c:12 < ...\n"));
}

}  // namespace
}  // namespace heddle::report
