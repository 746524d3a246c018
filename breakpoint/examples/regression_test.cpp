// SPDX-License-Identifier: Apache-2.0
//
// The bug report as a regression test: fails before the fix, passes after it, and says so if the
// code has moved away from under its breakpoint.
#include <gtest/gtest.h>

#include <thread>

#include "buffer.h"

TEST(Buffer, AppendSurvivesAClearInTheMiddle) {
  Buffer to("a"), from("bcd");
  std::string thrown;
  std::thread appender([&] {
    try {
      to.append(from);
    } catch (const std::out_of_range& error) {
      thrown = error.what();
    }
  });
  std::thread clearer([&] { from.clear(); });
  appender.join();
  clearer.join();
  EXPECT_EQ(thrown, "");
  EXPECT_EQ(heddle::breakpoint_stats("stale length").arrivals, 2u);
}
