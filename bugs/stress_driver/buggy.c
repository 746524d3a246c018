// SPDX-License-Identifier: Apache-2.0
//
// Stress driver. N threads register the same M names in a registry, each only if nobody has done so
// yet. Looking up and adding are each locked, but not the two together: two threads can both find
// a name absent and both add it. Of N x M operations, two are enough for the failure; the rest is
// what a stress test has too much of.
// Origin: shape of the check-then-act on locked collections (put-if-absent) in stress tests.
// Usage: buggy [threads, default 4] [names, default 3]

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

static bool registry_has(struct registry* reg, int name) {
  pthread_mutex_lock(&reg->lock);
  bool found = reg->present[name];  // heddle: culprit check
  pthread_mutex_unlock(&reg->lock);
  return found;
}

// The caller must know that the name is absent.
static void registry_add(struct registry* reg, int name) {
  pthread_mutex_lock(&reg->lock);
  assert(!reg->present[name]);  // heddle: culprit recheck
  reg->present[name] = true;    // heddle: culprit act
  ++reg->count;
  pthread_mutex_unlock(&reg->lock);
}

static void* worker(void* arg) {
  struct registry* reg = arg;
  for (int name = 0; name < reg->names; ++name) {
    if (!registry_has(reg, name)) registry_add(reg, name);
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
