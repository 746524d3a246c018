// SPDX-License-Identifier: Apache-2.0
// Copies and fills of fixed and computed length, by intrinsic and by assignment.
// HOOKS: __heddle_range_read __heddle_range_write
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Big {
  long values[33];
};

struct Big one, two;
char text[256];

__attribute__((noinline)) struct Big produce(int n) {
  struct Big made;
  for (int i = 0; i < 33; ++i) made.values[i] = i * n;
  return made;
}

__attribute__((noinline)) long consume(struct Big given) {
  long sum = 0;
  for (int i = 0; i < 33; ++i) sum += given.values[i] * i;
  return sum;
}

int main(int count, char** arguments) {
  (void)arguments;
  one = produce(count + 2);
  two = one;
  memset(&one, count, sizeof one);
  memcpy(text, "the quick brown fox", (size_t)count * 20);
  memmove(text + 3, text, strlen(text) + (size_t)count);
  char* heap = malloc(1000);
  memset(heap, 'x', 1000);
  memcpy(heap + 10, text, 0);
  memcpy(heap + 10, text, sizeof text);
  two = produce(consume(two) % 17);
  printf("%ld %ld %s %c%c\n", consume(one), consume(two), text, heap[9], heap[10]);
  free(heap);
  return 0;
}
