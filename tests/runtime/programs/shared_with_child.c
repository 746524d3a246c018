// SPDX-License-Identifier: Apache-2.0
// A mutex and a semaphore in memory that a child process shares: each side waits for the other.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
  pthread_mutex_t mutex;
  sem_t to_child;
  sem_t to_parent;
  int count;
};

static void* work(void* argument) {
  struct shared* shared = argument;
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&shared->mutex);
    ++shared->count;
    pthread_mutex_unlock(&shared->mutex);
  }
  return NULL;
}

int main(void) {
  struct shared* shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->mutex, &attributes);
  sem_init(&shared->to_child, 1, 0);
  sem_init(&shared->to_parent, 1, 0);
  const pid_t child = fork();
  if (child == 0) {
    sem_wait(&shared->to_child);
    pthread_mutex_lock(&shared->mutex);
    sem_post(&shared->to_parent);
    usleep(2000);  // the parent comes to the mutex meanwhile
    pthread_mutex_unlock(&shared->mutex);
    work(shared);
    _exit(0);
  }
  sem_post(&shared->to_child);
  sem_wait(&shared->to_parent);
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) assert(pthread_create(&threads[i], NULL, &work, shared) == 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  int status = 0;
  assert(waitpid(child, &status, 0) == child && status == 0);
  printf("%d\n", shared->count);
  return shared->count == 60 ? 0 : 1;
}
