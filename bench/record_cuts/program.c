// SPDX-License-Identifier: Apache-2.0
//
// Recorded for the sake of its log: threads that race and that wait for each other, and are told
// things from outside. It says that it is ready, and waits for ever.
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 3, kRounds = 600 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long racy, guarded;

static void* work(void* random) {
  char bytes[40];
  for (int i = 0; i < kRounds; ++i) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (i % 8 == 0 && read(*(int*)random, bytes, sizeof bytes) != sizeof bytes) return 0;
    racy = racy * 3 + (unsigned long)now.tv_nsec;
    pthread_mutex_lock(&lock);
    guarded = guarded * 5 + racy + (unsigned long)bytes[i % 40];
    pthread_mutex_unlock(&lock);
  }
  return random;
}

int main(void) {
  pthread_t threads[kThreads];
  int random = open("/dev/urandom", O_RDONLY);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], 0, work, &random);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], 0);
  close(open("ready", O_WRONLY | O_CREAT, 0600));
  char byte;
  return (int)read(open("never", O_RDWR), &byte, 1);
}
