// SPDX-License-Identifier: Apache-2.0
//
// Two stages, fixed: both stages are one critical section.
// Usage: fixed [pairs of threads, default 2]

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct stages {
  pthread_mutex_t first_lock;
  pthread_mutex_t second_lock;
  int first;
  int second;
};

static void* writer(void* arg) {
  struct stages* s = arg;
  pthread_mutex_lock(&s->second_lock);
  pthread_mutex_lock(&s->first_lock);
  s->first = 1;
  pthread_mutex_unlock(&s->first_lock);
  s->second = s->first + 1;
  pthread_mutex_unlock(&s->second_lock);
  return NULL;
}

static void* reader(void* arg) {
  struct stages* s = arg;
  pthread_mutex_lock(&s->second_lock);
  pthread_mutex_lock(&s->first_lock);
  int first = s->first;
  pthread_mutex_unlock(&s->first_lock);
  int second = s->second;
  pthread_mutex_unlock(&s->second_lock);
  assert(first == 0 || second == first + 1);
  return NULL;
}

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? atoi(argv[1]) : 2;
  if (pairs < 1) return 2;
  struct stages* s = calloc(1, sizeof *s);
  pthread_t* thread = calloc((size_t)pairs * 2, sizeof *thread);
  if (s == NULL || thread == NULL) return 1;
  pthread_mutex_init(&s->first_lock, NULL);
  pthread_mutex_init(&s->second_lock, NULL);
  for (int i = 0; i < pairs; ++i) pthread_create(&thread[i], NULL, writer, s);
  for (int i = 0; i < pairs; ++i) pthread_create(&thread[pairs + i], NULL, reader, s);
  for (int i = 0; i < pairs * 2; ++i) pthread_join(thread[i], NULL);
  free(thread);
  free(s);
  return 0;
}
