// SPDX-License-Identifier: Apache-2.0
// The longest Collatz chain: loops whose end nobody can compute.
#include <stdio.h>
int main(void) {
  long best = 0, at = 0;
  for (long start = 1; start < 1500000; ++start) {
    long length = 0;
    unsigned long n = (unsigned long)start;
    while (n != 1) {
      n = n & 1 ? 3 * n + 1 : n >> 1;
      ++length;
    }
    if (length > best) best = length, at = start;
  }
  printf("%ld %ld\n", at, best);
}
