// SPDX-License-Identifier: Apache-2.0
//
// A heisenbug as it goes into a bug report: the program, and two lines in buffer.h.
#include <cstdio>
#include <thread>

#include "buffer.h"

int main() {
  Buffer to("a"), from("bcd");
  bool failed = false;
  std::thread appender([&] {
    try {
      to.append(from);
    } catch (const std::out_of_range& error) {
      std::printf("append threw: %s\n", error.what());
      failed = true;
    }
  });
  std::thread clearer([&] { from.clear(); });
  appender.join();
  clearer.join();
  return failed ? 1 : 0;
}
