// SPDX-License-Identifier: Apache-2.0
//
// A thread that looks again and again for what the postponed one would do keeps the run going, but
// does not keep the other postponed for ever.
#include <heddle/breakpoint_c.h>

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int go;

static void* sets(void* arg) {
  assert(!heddle_bp_conflict("never met", 0, &go));
  atomic_store(&go, 1);
  return arg;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, sets, 0);
  while (!atomic_load(&go)) sched_yield();
  pthread_join(thread, 0);
  return 0;
}
