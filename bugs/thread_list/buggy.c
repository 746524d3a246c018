// SPDX-License-Identifier: Apache-2.0
//
// Many threads and a list. Each thread adds its key to a sorted list if it is not there, looking
// and inserting in two locked steps. Neighbouring threads have the same key; two of them are
// enough for a duplicate.
// Origin: LEAN's list program: 450 threads, of which two matter.
// Usage: buggy [threads, default 6]

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct list {
  pthread_mutex_t lock;
  int size;
  int key[];
};

struct job {
  struct list* list;
  int key;
};

static int find(const struct list* l, int key) {
  for (int i = 0; i < l->size; ++i) {  // heddle: culprit check
    if (l->key[i] == key) return 1;    // heddle: culprit check
  }
  return 0;
}

static void* insert(void* arg) {
  struct job* j = arg;
  struct list* l = j->list;
  pthread_mutex_lock(&l->lock);
  int found = find(l, j->key);
  pthread_mutex_unlock(&l->lock);
  if (found) return NULL;
  pthread_mutex_lock(&l->lock);
  assert(!find(l, j->key));
  l->key[l->size++] = j->key;  // heddle: culprit insert
  pthread_mutex_unlock(&l->lock);
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 6;
  if (threads < 1) return 2;
  struct list* l = calloc(1, sizeof *l + (size_t)threads * sizeof l->key[0]);
  struct job* job = calloc((size_t)threads, sizeof *job);
  pthread_t* thread = calloc((size_t)threads, sizeof *thread);
  if (l == NULL || job == NULL || thread == NULL) return 1;
  pthread_mutex_init(&l->lock, NULL);
  for (int i = 0; i < threads; ++i) {
    job[i].list = l;
    job[i].key = i / 2;
    pthread_create(&thread[i], NULL, insert, &job[i]);
  }
  for (int i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
  free(thread);
  free(job);
  free(l);
  return 0;
}
