// SPDX-License-Identifier: Apache-2.0
//
// What every program here does besides its own: something that depends on the schedule, visibly.
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int order[8];
static int arrived;

static void* arrive(void* number) {
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_lock(&mutex);
    if (arrived < 8) order[arrived++] = (int)(long)number;
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

/// Two threads whose order is the schedule's; prints it.
static void run_threads(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, arrive, (void*)(i + 1));
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < arrived; ++i) printf("%d", order[i]);
  printf("\n");
}
