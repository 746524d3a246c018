// SPDX-License-Identifier: Apache-2.0
//
// Trace toggle. A thread that traces first tests whether tracing is on and then uses the log.
// Another thread switches tracing off and frees the log in between.
// Origin: Shape of ctrace, whose tracing state is changed by one thread and tested by others
// without a lock.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct trace {
  pthread_mutex_t lock;
  int on;
  int* log;
};

static int trace_is_on(struct trace* t) {
  pthread_mutex_lock(&t->lock);
  int on = t->on;  // heddle: culprit test
  pthread_mutex_unlock(&t->lock);
  return on;
}

static void trace_write(struct trace* t, int event) {
  pthread_mutex_lock(&t->lock);
  *t->log = event;  // heddle: culprit use
  pthread_mutex_unlock(&t->lock);
}

static void trace_off(struct trace* t) {
  pthread_mutex_lock(&t->lock);
  t->on = 0;  // heddle: culprit off
  free(t->log);
  t->log = NULL;
  pthread_mutex_unlock(&t->lock);
}

static void* worker(void* arg) {
  for (int i = 0; i < 2; ++i) {
    if (trace_is_on(arg)) trace_write(arg, i);
  }
  return NULL;
}

int main(void) {
  struct trace* t = calloc(1, sizeof *t);
  if (t == NULL) return 1;
  pthread_mutex_init(&t->lock, NULL);
  t->log = calloc(1, sizeof *t->log);
  t->on = 1;
  pthread_t thread;
  pthread_create(&thread, NULL, worker, t);
  trace_off(t);
  pthread_join(thread, NULL);
  free(t);
  return 0;
}
