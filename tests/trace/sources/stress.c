#include <pthread.h>
#include <stdlib.h>

enum { kThreads = 8, kRounds = 20 };
static long total;

static void* worker(void* argument) {
  for (int round = 0; round < kRounds; ++round) {
    long seen = total;
    total = seen + 1;
  }
  return argument;
}

int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  if (total != kThreads * kRounds) exit(3);
  return 0;
}
