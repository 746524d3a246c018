// SPDX-License-Identifier: Apache-2.0
//
// Writers and a reader. n writers each store the same pair of values, one after the other; a
// reader that comes between the first two stores of whoever is first sees half a pair. With many
// writers a random walk rarely lets the reader run that early and in the right place.
// Origin: Family used to compare testing strategies (reorder with n setters and one checker): the
// more writers, the rarer.
// Usage: buggy [writers, default 3]

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
  atomic_store(&p->a, 1);   // heddle: culprit write-a
  atomic_store(&p->b, -1);  // heddle: culprit write-b
  return NULL;
}

static void* reader(void* arg) {
  struct pair* p = arg;
  int a = atomic_load(&p->a);  // heddle: culprit read-a
  int b = atomic_load(&p->b);  // heddle: culprit read-b
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
