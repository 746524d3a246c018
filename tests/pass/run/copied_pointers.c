// SPDX-License-Identifier: Apache-2.0
// Pointers that travel in copied memory, and are then only written or called through; structures
// that are copied within an array, or by a call.
// HOOKS: __heddle_load4 __heddle_store4 __heddle_range_read
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct Row {
  long key;
  long value;
  long more;
};
struct Job {
  int* state;
  long numbers[6];
};
struct Box {
  int* numbers;
};
struct Operations {
  long unused;
  int* (*make)(int value);
};
struct Ends {
  int* all[4];
  int* other;
};

static volatile int one = 1;
static struct Row rows[4];
static struct Row shared_row;
static struct Job queue[4];
static struct Box* box_told;
static int set_by_other[32];
static int* made_told;
static int* last_told;
static int pipe_ends[2];
static __thread int* cached;

// Fields that reach beyond what is copied: of the array's elements one is indexed.
static long shift_rows(void) {
  rows[one].key = 5;
  rows[2] = rows[1];
  int numbers[8] = {one, one, one, one, one, one, one, one};
  for (int i = 0; i < 3 + one; ++i) {
    memmove(&numbers[1], &numbers[0], 4 * sizeof numbers[0]);
    numbers[0] = i;
  }
  return rows[2].key + numbers[one];
}

static int* make_or_find(int value) {
  if (cached == NULL) {
    cached = malloc(sizeof *cached);
    *cached = value * one;
  }
  *cached += one;
  return cached;
}

static __attribute__((noinline)) int* last_of(struct Ends* ends, int count) {
  int** end = &ends->all[count];
  return end[-1];
}

static __attribute__((noinline)) long sum_of(struct Row row) {
  return row.key + row.value * one + row.more;
}

static __attribute__((noinline)) void submit(const struct Job* job) {
  queue[0] = *job;
}

static void* other(void* unused) {
  int* received = NULL;
  *queue[0].state = 1;
  memset(box_told->numbers, one, sizeof set_by_other);
  *made_told += one;
  *last_told += one;
  shared_row.key += one;
  if (read(pipe_ends[0], &received, sizeof received) != (ssize_t)sizeof received) abort();
  *received += one;
  return unused;
}

int main(void) {
  pthread_t thread;
  volatile size_t bytes = sizeof(struct Box);
  const long shifted = shift_rows();

  volatile int state = 0;
  struct Job job = {(int*)&state, {1, 2, 3, 4, 5, 6}};
  submit(&job);

  struct Box* box = malloc(sizeof *box);
  box_told = malloc(sizeof *box);
  box->numbers = set_by_other;
  memcpy(box_told, box, bytes);

  struct Operations* operations = malloc(sizeof *operations);
  struct Operations* copied = malloc(sizeof *operations);
  bytes = sizeof *operations;
  operations->unused = one;
  operations->make = make_or_find;
  memcpy(copied, operations, bytes);
  made_told = copied->make(3);

  int numbers[5] = {one, one, one, one, one};
  struct Ends ends = {{&numbers[0], &numbers[1], &numbers[2], NULL}, NULL};
  int last = one;
  int home = one;
  ends.all[3] = &last;
  ends.other = &home;
  last_told = last_of(&ends, 4 * one);

  int* sent = malloc(sizeof *sent);
  *sent = one;
  if (pipe(pipe_ends) != 0) return 1;
  if (write(pipe_ends[1], &sent, sizeof sent) != (ssize_t)sizeof sent) return 1;
  pthread_create(&thread, NULL, other, NULL);
  pthread_join(thread, NULL);

  state += 2;
  *copied->make(4) += one;
  last += one;
  home += one;
  *sent += one;
  printf("%ld %d %d %d %d %d %d %ld\n", shifted, state, ((volatile int*)set_by_other)[one],
         *made_told, last, home, *sent, sum_of(shared_row));
  free(sent);
  free(box);
  free(box_told);
  free(operations);
  free(copied);
  free(cached);
  return 0;
}
