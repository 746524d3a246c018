// SPDX-License-Identifier: Apache-2.0
// Correct programs in which a thread waits for another by running: whatever the strategy, nothing
// is to be reported. With "livelock", both wait for each other, and that is to be found.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct shared {
  pthread_mutex_t lock;
  atomic_int ready;
  atomic_int busy[2];
  int value;
};

static const char* way;

/// Waits until the other has written.
static void wait_for(struct shared* s) {
  if (strcmp(way, "flag") == 0) {
    while (!atomic_load(&s->ready)) {
    }
  } else if (strcmp(way, "exchange") == 0) {
    while (atomic_exchange(&s->ready, 0) == 0) {
    }
  } else if (strcmp(way, "yield") == 0) {
    while (!atomic_load(&s->ready)) sched_yield();
  } else if (strcmp(way, "locked") == 0) {
    for (int done = 0; !done;) {
      pthread_mutex_lock(&s->lock);
      done = atomic_load(&s->ready);
      pthread_mutex_unlock(&s->lock);
    }
  } else {  // back-off, which writes all the time: both are let in, one after the other
    atomic_store(&s->busy[0], 1);
    while (atomic_load(&s->busy[1]) || !atomic_load(&s->ready)) {
      atomic_store(&s->busy[0], 0);
      atomic_store(&s->busy[0], 1);
    }
    atomic_store(&s->busy[0], 0);
  }
}

static void* produce(void* arg) {
  struct shared* s = arg;
  if (strcmp(way, "livelock") == 0) {
    while (!atomic_load(&s->busy[0])) {
    }
  }
  atomic_store(&s->busy[1], 1);
  s->value = 7;
  pthread_mutex_lock(&s->lock);
  atomic_store(&s->ready, 1);
  pthread_mutex_unlock(&s->lock);
  atomic_store(&s->busy[1], 0);
  return NULL;
}

int main(int argc, char** argv) {
  way = argc > 1 ? argv[1] : "flag";
  struct shared* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, produce, s);
  if (strcmp(way, "livelock") == 0) {
    while (!atomic_load(&s->busy[1])) {
    }
  } else {
    wait_for(s);
    assert(s->value == 7);
  }
  pthread_join(thread, NULL);
  free(s);
  return 0;
}
