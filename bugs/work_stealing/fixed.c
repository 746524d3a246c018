// SPDX-License-Identifier: Apache-2.0
//
// Work stealing, fixed: the last task belongs to who moves the head.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { kTasks = 3 };

struct queue {
  atomic_int head;
  atomic_int tail;
  atomic_int taken[kTasks];
};

static void run(struct queue* q, int task) {
  assert(atomic_fetch_add(&q->taken[task], 1) == 0);
}

static void* thief(void* arg) {
  struct queue* q = arg;
  for (int i = 0; i < 2; ++i) {
    int head = atomic_load(&q->head);
    if (head >= atomic_load(&q->tail)) continue;
    if (atomic_compare_exchange_strong(&q->head, &head, head + 1)) {
      run(q, head);
    }
  }
  return NULL;
}

static int pop(struct queue* q) {
  int tail = atomic_load(&q->tail) - 1;
  atomic_store(&q->tail, tail);
  int head = atomic_load(&q->head);
  if (tail > head) return tail;
  int task = -1;
  int expected = head;
  if (tail == head && atomic_compare_exchange_strong(&q->head, &expected, head + 1)) task = tail;
  atomic_store(&q->tail, tail + 1);
  return task;
}

int main(void) {
  struct queue* q = calloc(1, sizeof *q);
  if (q == NULL) return 1;
  pthread_t thread;
  atomic_store(&q->tail, kTasks);
  pthread_create(&thread, NULL, thief, q);
  for (int i = 0; i < kTasks; ++i) {
    int task = pop(q);
    if (task >= 0) run(q, task);
  }
  pthread_join(thread, NULL);
  free(q);
  return 0;
}
