// SPDX-License-Identifier: Apache-2.0
//
// Two stages. Writers store a value and, in a second critical section, its successor; readers
// that find the first expect the second. Every reader between the two stages of the first writer
// fails; with many threads that stretch is a small part of the run.
// Origin: Family used to compare testing strategies (two-stage with n threads).
// Usage: buggy [pairs of threads, default 2]

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
  pthread_mutex_lock(&s->first_lock);
  s->first = 1;  // heddle: culprit write-first
  pthread_mutex_unlock(&s->first_lock);
  pthread_mutex_lock(&s->second_lock);
  s->second = s->first + 1;  // heddle: culprit write-second
  pthread_mutex_unlock(&s->second_lock);
  return NULL;
}

static void* reader(void* arg) {
  struct stages* s = arg;
  pthread_mutex_lock(&s->first_lock);
  int first = s->first;  // heddle: culprit read-first
  pthread_mutex_unlock(&s->first_lock);
  if (first == 0) return NULL;
  pthread_mutex_lock(&s->second_lock);
  int second = s->second;  // heddle: culprit read-second
  pthread_mutex_unlock(&s->second_lock);
  assert(second == first + 1);
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
