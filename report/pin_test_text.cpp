// SPDX-License-Identifier: Apache-2.0
#include "report/pin_test_text.h"

#include <fmt/format.h>

#include <filesystem>

#include "abi/names.h"

namespace heddle::report {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace

std::string ctest_text(const trace::PinFile& file, const std::string& name,
                       const std::string& pin_file) {
  std::string arguments;
  for (const std::string& argument : file.arguments) arguments += " " + quoted(argument);
  return fmt::format(
      R"(# The program, built with heddle-cc or heddle-c++. Passes when the failure is gone; fails when it is
# still there, and when the code has changed so that the breakpoints no longer apply.
#   cmake -DPINNED_PROGRAM=path/to/{1} ...   or set it to $<TARGET_FILE:your_target>
find_program(HEDDLE heddle REQUIRED)
add_test(NAME pin.{0}
         COMMAND ${{HEDDLE}} pin --check ${{CMAKE_CURRENT_LIST_DIR}}/{2} -- ${{PINNED_PROGRAM}}{3})
set_tests_properties(pin.{0} PROPERTIES TIMEOUT 600)
)",
      name, std::filesystem::path(file.program).filename().string(), pin_file, arguments);
}

std::string googletest_text(const trace::PinFile& file, const std::string& name) {
  std::string arguments;
  for (const std::string& argument : file.arguments) {
    arguments += fmt::format("const_cast<char*>({}), ", quoted(argument));
  }
  std::string breakpoints;
  for (const trace::PinBreakpoint& breakpoint : file.pins) {
    breakpoints += fmt::format("\n    \"\\\"name\\\": \\\"{}\\\"\",", breakpoint.name);
  }
  return fmt::format(
      R"(// A pinned failure ({0}) as a regression test: the program with the patch of the breakpoints, run
// natively. Needs heddle/breakpoint.h to build the program and nothing to run it.
//   target_compile_definitions(TEST PRIVATE PINNED_PROGRAM="$<TARGET_FILE:your_target>")
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

extern char** environ;

namespace {{

constexpr int kRuns = 10;
constexpr int kSeconds = 30;  // a run that takes longer is stuck

/// The breakpoints the program came by, as it reports them when it ends normally.
constexpr const char* kBreakpoints[] = {{{3}
}};

TEST(Pinned, {1}) {{
  const std::string report = testing::TempDir() + "pinned_{1}.json";
  setenv("HEDDLE_BREAKPOINTS", ("report=json:report_file=" + report).c_str(), 1);
  char* arguments[] = {{const_cast<char*>(PINNED_PROGRAM), {2}nullptr}};
  std::string reported;
  for (int run = 0; run < kRuns; ++run) {{
    std::remove(report.c_str());
    pid_t process;
    ASSERT_EQ(posix_spawn(&process, PINNED_PROGRAM, nullptr, nullptr, arguments, environ), 0);
    int status = 0;
    pid_t ended = 0;
    for (int tenth = 0; ended == 0 && tenth < 10 * kSeconds; ++tenth) {{
      ended = waitpid(process, &status, WNOHANG);
      if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(tenth == 0 ? 5 : 100));
    }}
    if (ended == 0) {{
      kill(process, SIGKILL);
      waitpid(process, &status, 0);
      FAIL() << "still there: the program does not end";
    }}
    ASSERT_TRUE(WIFEXITED(status)) << "still there: signal " << WTERMSIG(status);
    ASSERT_EQ(WEXITSTATUS(status), 0) << "still there";
    std::ifstream file(report);
    std::ostringstream text;
    text << file.rdbuf();
    reported += text.str();
  }}
  // A test that passes because its breakpoints were never reached says nothing.
  for (const char* breakpoint : kBreakpoints) {{
    EXPECT_NE(reported.find(breakpoint), std::string::npos) << "never reached: " << breakpoint;
  }}
}}

}}  // namespace
)",
      abi::name_of(file.failure.kind), name, arguments, breakpoints);
}

}  // namespace heddle::report
