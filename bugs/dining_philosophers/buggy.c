// SPDX-License-Identifier: Apache-2.0
//
// Dining philosophers. Each takes its left fork and then the right one. When all have the left
// one, nobody can go on.
// Origin: Dijkstra's dining philosophers; as a family the deadlock gets rarer with each
// philosopher.
// Usage: buggy [philosophers, default 3]

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct table {
  int seats;
  pthread_mutex_t fork[];
};

struct philosopher {
  struct table* table;
  int seat;
};

static void* dine(void* arg) {
  struct philosopher* p = arg;
  pthread_mutex_t* first = &p->table->fork[p->seat];
  pthread_mutex_t* second = &p->table->fork[(p->seat + 1) % p->table->seats];
  pthread_mutex_lock(first);   // heddle: culprit first
  pthread_mutex_lock(second);  // heddle: culprit second
  pthread_mutex_unlock(second);
  pthread_mutex_unlock(first);
  return NULL;
}

int main(int argc, char** argv) {
  const int seats = argc > 1 ? atoi(argv[1]) : 3;
  if (seats < 2) return 2;
  struct table* t = calloc(1, sizeof *t + (size_t)seats * sizeof t->fork[0]);
  struct philosopher* p = calloc((size_t)seats, sizeof *p);
  pthread_t* thread = calloc((size_t)seats, sizeof *thread);
  if (t == NULL || p == NULL || thread == NULL) return 1;
  t->seats = seats;
  for (int i = 0; i < seats; ++i) pthread_mutex_init(&t->fork[i], NULL);
  for (int i = 0; i < seats; ++i) {
    p[i].table = t;
    p[i].seat = i;
    pthread_create(&thread[i], NULL, dine, &p[i]);
  }
  for (int i = 0; i < seats; ++i) pthread_join(thread[i], NULL);
  free(thread);
  free(p);
  free(t);
  return 0;
}
