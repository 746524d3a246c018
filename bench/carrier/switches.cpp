// SPDX-License-Identifier: Apache-2.0
//
// bench_switches CARRIER COUNT: CPU nanoseconds for one switch between two threads, with nothing
// around it. Prints one number.
#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "runtime/base/thread_slots.h"
#include "runtime/carrier/carrier.h"

namespace {

heddle::runtime::Carrier* carrier = nullptr;

void bounce() {
  for (;;) carrier->switch_to(1, 0);
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  carrier = heddle::runtime::find_carrier(arguments[1]);
  const long rounds = std::atol(arguments[2]);
  if (carrier == nullptr || rounds <= 0) return 2;
  carrier->begin_run();
  heddle::runtime::thread_slots().take(1, 0, 1, 0);
  if (carrier->create(1, {}, &bounce) == 0) return 3;
  carrier->switch_to(0, 1);
  const double begin = now();
  for (long i = 0; i < rounds; ++i) carrier->switch_to(0, 1);
  std::printf("%.3f\n", (now() - begin) / static_cast<double>(2 * rounds));
  std::fflush(stdout);
  std::_Exit(0);
}
