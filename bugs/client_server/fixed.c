// SPDX-License-Identifier: Apache-2.0
//
// Clients and a server, fixed: a ticket is taken and marked in one critical section.
// Usage: fixed [clients, default 3] [requests each, default 2]

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct server {
  pthread_mutex_t lock;
  int requests;
  int next;
  int given[];
};

static void serve(struct server* s) {
  pthread_mutex_lock(&s->lock);
  int ticket = s->next;
  assert(!s->given[ticket]);
  s->given[ticket] = 1;
  s->next = ticket + 1;
  pthread_mutex_unlock(&s->lock);
}

static void* client(void* arg) {
  struct server* s = arg;
  for (int i = 0; i < s->requests; ++i) serve(s);
  return NULL;
}

int main(int argc, char** argv) {
  const int clients = argc > 1 ? atoi(argv[1]) : 3;
  const int requests = argc > 2 ? atoi(argv[2]) : 2;
  if (clients < 1 || requests < 1) return 2;
  const size_t tickets = (size_t)clients * (size_t)requests + 1;
  struct server* s = calloc(1, sizeof *s + tickets * sizeof s->given[0]);
  pthread_t* thread = calloc((size_t)clients, sizeof *thread);
  if (s == NULL || thread == NULL) return 1;
  pthread_mutex_init(&s->lock, NULL);
  s->requests = requests;
  for (int i = 0; i < clients; ++i) pthread_create(&thread[i], NULL, client, s);
  for (int i = 0; i < clients; ++i) pthread_join(thread[i], NULL);
  free(thread);
  free(s);
  return 0;
}
