// SPDX-License-Identifier: Apache-2.0
//
// A thread finds what it stored itself, under every memory model: in libraries that see memory but
// no store buffers (qsort, strlen, printf, realloc), in stack memory that is used again, and after
// more stores than a buffer holds.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[64];
static int numbers[8];

static int by_value(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}

__attribute__((noinline)) static void fill(int* where, int value) {
  *where = value;
}

// Each frame stores to a variable whose address it gave away, then the next one uses the memory.
__attribute__((noinline)) static int sum_to(int n) {
  int own;
  fill(&own, n);
  return n == 0 ? 0 : own + sum_to(n - 1);
}

static void* work(void* sum) {
  for (int i = 0; i < 8; ++i) numbers[i] = 8 - i;
  qsort(numbers, 8, sizeof numbers[0], by_value);
  for (int i = 0; i < 8; ++i) line[i] = (char)('0' + numbers[i]);
  line[8] = 0;
  printf("%s, %zu characters\n", line, strlen(line));

  for (int i = 0; i < 50; ++i) *(int*)sum += sum_to(i);

  char* text = malloc(4);
  text[0] = 'a';
  text[1] = 'b';
  text = realloc(text, 4000);
  text[2] = 0;
  puts(text);
  free(text);
  return NULL;
}

int main(void) {
  int sum = 0;
  pthread_t worker;
  pthread_create(&worker, NULL, work, &sum);
  pthread_join(worker, NULL);
  printf("%d\n", sum);
  for (int i = 0; i < 300; ++i) numbers[i % 8] = i;
  printf("%d\n", numbers[3]);
  return 0;
}
