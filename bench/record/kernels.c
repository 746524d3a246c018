// SPDX-License-Identifier: Apache-2.0
//
// Two threads that share nothing (private), a counter under a lock (locked), an array of counters
// without one (racing). What is recorded is what they share.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { kSlots = 4096 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long counters[kSlots];
static const char* kernel;
static long rounds;

static void* work(void* argument) {
  unsigned long state = (unsigned long)argument * 77 + 1;
  for (long i = 0; i < rounds; ++i) {
    if (kernel[0] == 'p') {
      for (int j = 0; j < 1000; ++j) state = state * 6364136223846793005ul + 1442695040888963407ul;
    } else if (kernel[0] == 'l') {
      pthread_mutex_lock(&lock);
      counters[0] = counters[0] + 1;
      pthread_mutex_unlock(&lock);
    } else {
      state = state * 6364136223846793005ul + 1442695040888963407ul;
      const unsigned long slot = state >> 52;
      counters[slot] = counters[slot] + 1;
    }
  }
  counters[(long)argument] = (long)state;
  return argument;
}

int main(int count, char** arguments) {
  pthread_t threads[2];
  kernel = count > 1 ? arguments[1] : "private";
  rounds = count > 2 ? strtol(arguments[2], 0, 10) : 1000;
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], 0, work, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return 0;
}
