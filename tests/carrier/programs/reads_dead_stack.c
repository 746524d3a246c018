// SPDX-License-Identifier: Apache-2.0
//
// Looks at what lies below its stack pointer, in all threads, after calls of all kinds: nothing of
// it may tell one execution of a schedule from another.
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 3
#define LOOKS 16
static unsigned long seen[THREADS + 1][LOOKS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;
static sem_t done;

__attribute__((noinline)) static unsigned long dead_stack(void) {
  unsigned char dead[16384];
  unsigned char* at = dead;
  __asm__ volatile("" : "+r"(at));
  unsigned long hash = 14695981039346656037ul;
  for (unsigned i = 0; i < sizeof dead; ++i) hash = (hash ^ at[i]) * 1099511628211ul;
  return hash;
}

#define LOOK() (*looks++ = dead_stack())

static void* work(void* argument) {
  unsigned long* looks = argument;
  LOOK();
  pthread_mutex_lock(&mutex);
  LOOK();
  while (!ready) pthread_cond_wait(&condition, &mutex);
  LOOK();
  pthread_mutex_unlock(&mutex);
  LOOK();
  free(malloc(10));
  LOOK();
  usleep(10);
  LOOK();
  char text[100];
  snprintf(text, sizeof text, "%d %f", 5, 2.5);
  LOOK();
  jmp_buf jump;
  if (setjmp(jump) == 0) longjmp(jump, 1);
  LOOK();
  sem_post(&done);
  LOOK();
  return NULL;
}

int main(void) {
  unsigned long* looks = seen[THREADS];
  LOOK();
  sem_init(&done, 0, 0);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    pthread_create(&threads[i], NULL, &work, seen[i]);
    LOOK();
  }
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  LOOK();
  for (int i = 0; i < THREADS; ++i) sem_wait(&done);
  LOOK();
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  LOOK();
  puts("main and its threads saw:");
  LOOK();
  for (int i = 0; i <= THREADS; ++i) {
    for (int j = 0; j < LOOKS; ++j) printf("%lx ", seen[i][j]);
    puts("");
  }
  return 0;
}
