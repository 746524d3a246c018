// SPDX-License-Identifier: Apache-2.0
// A handler runs in a thread that waits for a lock, a condition, a barrier, another thread; where
// it is the handler that ends the wait, the wait ends.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_t joiner;
static atomic_int handled;

// Releases what the interrupted thread waits for, as programs should not and some do.
static void release(int number) {
  (void)number;
  pthread_mutex_unlock(&held);
  ++handled;
}

static void count(int number) {
  (void)number;
  ++handled;
}

static void* lock_held(void* unused) {
  pthread_mutex_lock(&held);
  pthread_mutex_unlock(&held);
  return unused;
}

static void* wait_for_signal(void* unused) {
  pthread_mutex_lock(&mutex);
  while (handled == 0) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* wait_at_barrier(void* unused) {
  pthread_barrier_wait(&barrier);
  return unused;
}

static void* interrupt_joiner(void* unused) {
  pthread_kill(joiner, SIGUSR2);
  while (handled == 0) sched_yield();  // ends only if the joiner handles it while it joins
  return unused;
}

static pthread_t start(void* (*routine)(void*)) {
  handled = 0;
  pthread_t thread;
  assert(pthread_create(&thread, NULL, routine, NULL) == 0);
  return thread;
}

int main(void) {
  struct sigaction action = {.sa_handler = release};
  sigaction(SIGUSR1, &action, NULL);
  action.sa_handler = count;
  sigaction(SIGUSR2, &action, NULL);

  pthread_mutex_lock(&held);
  pthread_t thread = start(&lock_held);
  pthread_kill(thread, SIGUSR1);
  pthread_join(thread, NULL);
  assert(handled == 1);

  thread = start(&wait_for_signal);
  pthread_kill(thread, SIGUSR2);
  while (handled == 0) sched_yield();
  pthread_mutex_lock(&mutex);
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);

  pthread_barrier_init(&barrier, NULL, 2);
  thread = start(&wait_at_barrier);
  pthread_kill(thread, SIGUSR2);
  while (handled == 0) sched_yield();
  pthread_barrier_wait(&barrier);
  pthread_join(thread, NULL);

  joiner = pthread_self();
  thread = start(&interrupt_joiner);
  pthread_join(thread, NULL);
  assert(handled == 1);
  puts("done");
  return 0;
}
