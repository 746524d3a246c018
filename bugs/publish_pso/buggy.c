// SPDX-License-Identifier: Apache-2.0
//
// Double-checked initialisation that publishes too early. The first user creates the settings under
// a lock, fills them in and publishes their address with a relaxed store; later users find the
// address without the lock. Where stores become visible out of order, a user sees the address
// before the contents. Neither sequentially consistent hardware nor x86 would ever show it.
// Origin: the double-checked locking pattern (Meyers and Alexandrescu, 2004).

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
    settings->limit = 10;                                             // heddle: culprit fill
    atomic_store_explicit(&current, settings, memory_order_relaxed);  // heddle: culprit publish
  }
  pthread_mutex_unlock(&creation);
  return settings;
}

static void* user(void* unused) {
  (void)unused;
  struct settings* settings = atomic_load_explicit(&current, memory_order_relaxed);
  if (settings == NULL) settings = create_settings();
  assert(settings->limit == 10);  // heddle: culprit use
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
