// SPDX-License-Identifier: Apache-2.0
//
// Reference count, fixed: the decrement itself tells which owner was the last.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct object {
  int value;
  atomic_int refs;
};

static void object_release(struct object* obj) {
  if (atomic_fetch_sub(&obj->refs, 1) == 1) free(obj);
}

static void* owner(void* arg) {
  struct object* obj = arg;
  printf("%d\n", obj->value);
  object_release(obj);
  return NULL;
}

int main(void) {
  struct object* obj = malloc(sizeof *obj);
  if (obj == NULL) return 1;
  obj->value = 5;
  atomic_init(&obj->refs, 2);

  pthread_t other;
  pthread_create(&other, NULL, owner, obj);
  object_release(obj);
  pthread_join(other, NULL);
  return 0;
}
