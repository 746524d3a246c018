// SPDX-License-Identifier: Apache-2.0
//
// Pauses in vain end when nobody else can go on, the oldest first, and are told apart from hits.
#include <heddle/breakpoint_c.h>

#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order[2], next;

// The partner waits for the lock that the postponed thread holds.
static void* holder(void* arg) {
  pthread_mutex_lock(&lock);
  assert(!heddle_bp_conflict("held", 0, &lock));
  order[next++] = 1;
  pthread_mutex_unlock(&lock);
  return arg;
}

static void* wanter(void* arg) {
  pthread_mutex_lock(&lock);
  order[next++] = 2;
  pthread_mutex_unlock(&lock);
  return arg;
}

int main(void) {
  pthread_t threads[2];
  // Nobody else is there at all.
  assert(!heddle_bp_conflict("alone", 0, &lock));
  // Only one that waits already would do, and nobody does.
  assert(!heddle_bp_conflict("at once", 0, &lock, .pause_ms = -1));
  pthread_create(&threads[0], 0, holder, 0);
  pthread_create(&threads[1], 0, wanter, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  assert(next == 2 && order[0] + order[1] == 3);
  return 0;
}
