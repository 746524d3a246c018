// SPDX-License-Identifier: Apache-2.0
//
// Writers and a reader, fixed: the pair is stored and read under a lock.
// Usage: fixed [writers, default 3]

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct pair {
  pthread_mutex_t lock;
  atomic_int a;
  atomic_int b;
};

static void* writer(void* arg) {
  struct pair* p = arg;
  pthread_mutex_lock(&p->lock);
  atomic_store(&p->a, 1);
  atomic_store(&p->b, -1);
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

static void* reader(void* arg) {
  struct pair* p = arg;
  pthread_mutex_lock(&p->lock);
  int a = atomic_load(&p->a);
  int b = atomic_load(&p->b);
  pthread_mutex_unlock(&p->lock);
  assert((a == 0 && b == 0) || (a == 1 && b == -1));
  return NULL;
}

int main(int argc, char** argv) {
  const int writers = argc > 1 ? atoi(argv[1]) : 3;
  if (writers < 1) return 2;
  struct pair* p = calloc(1, sizeof *p);
  pthread_t* thread = calloc((size_t)writers + 1, sizeof *thread);
  if (p == NULL || thread == NULL) return 1;
  pthread_mutex_init(&p->lock, NULL);
  for (int i = 0; i < writers; ++i) pthread_create(&thread[i], NULL, writer, p);
  pthread_create(&thread[writers], NULL, reader, p);
  for (int i = 0; i <= writers; ++i) pthread_join(thread[i], NULL);
  free(thread);
  free(p);
  return 0;
}
