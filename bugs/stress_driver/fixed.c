// SPDX-License-Identifier: Apache-2.0
//
// Stress driver, fixed: a name is looked up and added in one critical section.
// Usage: fixed [threads, default 4] [names, default 3]

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

struct registry {
  pthread_mutex_t lock;
  int count;
  int names;
  bool present[];  // by name, 0 .. names - 1
};

// The caller holds the lock and knows that the name is absent.
static void registry_add(struct registry* reg, int name) {
  assert(!reg->present[name]);
  reg->present[name] = true;
  ++reg->count;
}

static void registry_add_if_absent(struct registry* reg, int name) {
  pthread_mutex_lock(&reg->lock);
  if (!reg->present[name]) registry_add(reg, name);
  pthread_mutex_unlock(&reg->lock);
}

static void* worker(void* arg) {
  struct registry* reg = arg;
  for (int name = 0; name < reg->names; ++name) {
    registry_add_if_absent(reg, name);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 4;
  const int names = argc > 2 ? atoi(argv[2]) : 3;
  if (threads < 1 || names < 1) return 2;

  struct registry* reg = calloc(1, sizeof *reg + (size_t)names * sizeof reg->present[0]);
  pthread_t* thread = calloc((size_t)threads, sizeof *thread);
  if (reg == NULL || thread == NULL) return 1;
  pthread_mutex_init(&reg->lock, NULL);
  reg->names = names;

  for (int i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, worker, reg);
  for (int i = 0; i < threads; ++i) pthread_join(thread[i], NULL);

  pthread_mutex_destroy(&reg->lock);
  free(thread);
  free(reg);
  return 0;
}
