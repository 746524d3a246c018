// SPDX-License-Identifier: Apache-2.0
//
// HEDDLE_BREAKPOINTS and the report at exit.
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>

#include <fstream>
#include <sstream>
#include <string>

namespace {

struct Outcome {
  int exit_code;
  std::string output;
};

Outcome run_with(const std::string& options) {
  std::string command = "HEDDLE_BREAKPOINTS='" + options + "' " REPORT_PROGRAM " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  Outcome outcome;
  char text[256];
  while (fgets(text, sizeof text, pipe)) outcome.output += text;
  outcome.exit_code = WEXITSTATUS(pclose(pipe));
  return outcome;
}

TEST(Report, NothingUnlessAsked) {
  Outcome outcome = run_with("pause_ms=60000");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "");
}

TEST(Report, Text) {
  Outcome outcome = run_with("pause_ms=60000:report=text");
  EXPECT_NE(outcome.output.find("heddle breakpoints:\n"), std::string::npos);
  EXPECT_NE(outcome.output.find("alone: 1 arrivals, 0 hits, 0 timeouts, 1 abandoned, paused "),
            std::string::npos)
      << outcome.output;
}

TEST(Report, Json) {
  Outcome outcome = run_with("pause_ms=60000:report=json");
  EXPECT_EQ(outcome.output.find("{\"breakpoints\": [{\"name\": "), 0u) << outcome.output;
  EXPECT_NE(outcome.output.find("{\"name\": \"met \\\"here\\\"\", \"sides\": 2, \"arrivals\": 2, "
                                "\"ignored\": 0, \"hits\": 1, \"timeouts\": 0, "),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(outcome.output.substr(outcome.output.size() - 4), "}]}\n");
}

TEST(Report, ToAFileOfTheProcess) {
  std::string path = testing::TempDir() + "breakpoint_report_%p.json";
  Outcome outcome = run_with("pause_ms=60000:report=json:verbose=1:report_file=" + path);
  EXPECT_EQ(outcome.output, "heddle: breakpoint 'met \"here\"' hit\n");
  FILE* listing = popen(("cat " + testing::TempDir() + "breakpoint_report_[0-9]*.json && rm " +
                         testing::TempDir() + "breakpoint_report_[0-9]*.json")
                            .c_str(),
                        "r");
  char text[64] = {};
  EXPECT_TRUE(fgets(text, sizeof text, listing));
  pclose(listing);
  EXPECT_EQ(std::string(text).find("{\"breakpoints\""), 0u);
}

TEST(Report, DisabledBreakpointsAreNotReached) {
  Outcome outcome = run_with("enabled=0:report=text");
  EXPECT_EQ(outcome.exit_code, 1);  // no hit
  EXPECT_EQ(outcome.output, "heddle breakpoints:\n  none was reached\n");
}

TEST(Report, DefaultsApply) {
  EXPECT_NE(run_with("ignore_first=5:report=json").output.find("\"ignored\": 2, \"hits\": 0"),
            std::string::npos);
  EXPECT_NE(run_with("pause_ms=1:early_end=0:report=json").output.find("\"timeouts\": 1"),
            std::string::npos);
}

TEST(Report, TypingErrorsAreNamed) {
  Outcome outcome = run_with("pause_ms=60000:puase_ms=5:report=yaml");
  EXPECT_EQ(outcome.output,
            "heddle: HEDDLE_BREAKPOINTS: 'puase_ms=5' is not understood\n"
            "heddle: HEDDLE_BREAKPOINTS: 'report=yaml' is not understood\n");
  EXPECT_EQ(outcome.exit_code, 0);
}

}  // namespace
