// SPDX-License-Identifier: Apache-2.0
// Sieve of Eratosthenes: counted loops of any step.
#include <stdio.h>
#include <string.h>
#define N 4000000
static char composite[N];
int main(void) {
  long count = 0;
  for (int round = 0; round < 12; ++round) {
    memset(composite, 0, sizeof composite);
    count = 0;
    for (long i = 2; i < N; ++i) {
      if (composite[i]) continue;
      ++count;
      for (long j = i * i; j < N; j += i) composite[j] = 1;
    }
  }
  printf("%ld\n", count);
}
