// SPDX-License-Identifier: Apache-2.0
//
// Fixed: the address is published with a release store and found with an acquire load, so whoever
// sees it sees the contents too.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct settings {
  int limit;
};

static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;
static struct settings* _Atomic current;

static struct settings* create_settings(void) {
  pthread_mutex_lock(&creation);
  struct settings* settings = atomic_load_explicit(&current, memory_order_relaxed);
  if (settings == NULL) {
    settings = calloc(1, sizeof *settings);
    settings->limit = 10;
    atomic_store_explicit(&current, settings, memory_order_release);
  }
  pthread_mutex_unlock(&creation);
  return settings;
}

static void* user(void* unused) {
  (void)unused;
  struct settings* settings = atomic_load_explicit(&current, memory_order_acquire);
  if (settings == NULL) settings = create_settings();
  assert(settings->limit == 10);
  return NULL;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, user, NULL);
  user(NULL);
  pthread_join(other, NULL);
  free(atomic_load_explicit(&current, memory_order_relaxed));
  return 0;
}
