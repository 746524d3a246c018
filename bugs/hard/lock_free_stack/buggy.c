// SPDX-License-Identifier: Apache-2.0
//
// Lock-free stack. A stack of node numbers, without counts against ABA, keeps a count of free
// nodes so that the last one is never taken; that count makes the failure very rare but does not
// prevent it. Three threads pop and push; two can end up with the same node.
// Origin: Shape of the lock-free stack posted by Vyukov to the CHESS forum, known as SafeStack:
// three threads and at least five switches.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { kThreads = 3, kNodes = 3, kRounds = 2 };

struct stack {
  pthread_mutex_t lock;
  atomic_int head;
  atomic_int count;
  atomic_int next[kNodes];
  atomic_int value[kNodes];
};

struct worker {
  struct stack* stack;
  int number;
};

static int pop(struct stack* s) {
  while (atomic_load(&s->count) > 1) {
    int head = atomic_load(&s->head);                // heddle: culprit read-head
    int next = atomic_exchange(&s->next[head], -1);  // heddle: culprit take-next
    if (next >= 0) {
      int expected = head;
      if (atomic_compare_exchange_strong(&s->head, &expected, next)) {  // heddle: culprit swap
        atomic_fetch_sub(&s->count, 1);
        return head;
      }
      atomic_exchange(&s->next[head], next);  // heddle: culprit put-back
    }
  }
  return -1;
}

static void push(struct stack* s, int node) {
  int head = atomic_load(&s->head);
  do {
    atomic_store(&s->next[node], head);
  } while (!atomic_compare_exchange_strong(&s->head, &head, node));
  atomic_fetch_add(&s->count, 1);
}

static void* work(void* arg) {
  struct worker* w = arg;
  for (int i = 0; i < kRounds; ++i) {
    int node = pop(w->stack);
    if (node < 0) continue;
    atomic_store(&w->stack->value[node], w->number);
    assert(atomic_load(&w->stack->value[node]) == w->number);
    push(w->stack, node);
  }
  return NULL;
}

int main(void) {
  struct stack* s = calloc(1, sizeof *s);
  struct worker* worker = calloc(kThreads, sizeof *worker);
  if (s == NULL || worker == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);
  atomic_store(&s->count, kNodes);
  for (int i = 0; i < kNodes; ++i) atomic_store(&s->next[i], i + 1 < kNodes ? i + 1 : -1);
  pthread_t thread[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    worker[i].stack = s;
    worker[i].number = i + 1;
    pthread_create(&thread[i], NULL, work, &worker[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(thread[i], NULL);
  free(worker);
  free(s);
  return 0;
}
