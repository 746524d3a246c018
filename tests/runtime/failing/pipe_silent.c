// SPDX-License-Identifier: Apache-2.0
// EXPECT: lost-wakeup
// The writer of a pipe waits for its reader.
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <unistd.h>

static int ends[2];
static sem_t read_one;

static void* writer(void* unused) {
  sem_wait(&read_one);
  return write(ends[1], "x", 1) == 1 ? unused : NULL;
}

int main(void) {
  if (pipe(ends) != 0) return 2;
  sem_init(&read_one, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, writer, NULL);
  char c;
  if (read(ends[0], &c, 1) != 1) return 3;
  sem_post(&read_one);
  pthread_join(thread, NULL);
  return 0;
}
