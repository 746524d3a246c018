// SPDX-License-Identifier: Apache-2.0
// Quicksort: recursion and loops that move pointers.
#include <stdio.h>
static unsigned v[1 << 20];
static void sort(unsigned* low, unsigned* high) {
  while (high - low > 1) {
    unsigned pivot = low[(high - low) / 2], *i = low, *j = high - 1;
    while (i <= j) {
      while (*i < pivot) ++i;
      while (*j > pivot) --j;
      if (i <= j) {
        unsigned t = *i;
        *i++ = *j;
        *j-- = t;
      }
    }
    sort(low, j + 1);
    low = i;
  }
}
int main(void) {
  unsigned x = 1;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 1 << 20; ++i) v[i] = x = x * 1664525 + 1013904223;
    sort(v, v + (1 << 20));
  }
  printf("%u\n", v[12345]);
}
