// SPDX-License-Identifier: Apache-2.0
//
// How a thread rounds, on either of the processor's two units, is its own business, and a new one
// begins as its creator is.
#include <fenv.h>
#include <pthread.h>
#include <sched.h>

#include "../check.h"

static const int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

static void check_rounding(int mode) {
  volatile double one = 1, three = 3;
  volatile long double long_one = 1, long_three = 3;
  const int up = mode == FE_UPWARD, nearest = mode == FE_TONEAREST;
  // A third lies between two numbers of either kind; the nearest is below it for double and above
  // it for long double.
  CHECK((one / three > 0x1.5555555555555p-2) == up);
  CHECK((long_one / long_three > 0xa.aaaaaaaaaaaaaaap-5L) == (up || nearest));
  CHECK(fegetround() == mode);
}

static void* work(void* mode) {
  check_rounding(FE_UPWARD);
  fesetround(*(const int*)mode);
  for (int i = 0; i < 20; ++i) {
    check_rounding(*(const int*)mode);
    sched_yield();
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  fesetround(FE_UPWARD);
  for (int i = 0; i < 4; ++i) {
    CHECK(pthread_create(&threads[i], NULL, work, (void*)&modes[i]) == 0);
    check_rounding(FE_UPWARD);
  }
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  check_rounding(FE_UPWARD);
  return 0;
}
