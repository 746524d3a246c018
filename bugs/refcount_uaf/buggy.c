// SPDX-License-Identifier: Apache-2.0
//
// Reference count. Two owners share an object; each gives its reference back by decrementing the
// count and then looking whether it became zero. Both steps are atomic, the two together are not:
// an owner preempted in between looks at the count of an object that the other one has freed (or
// both see zero and free it twice).
// Origin: shape of the reference count bugs of Apache httpd's cache objects and of many drivers.

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
  atomic_fetch_sub(&obj->refs, 1);     // heddle: culprit decrement
  if (atomic_load(&obj->refs) == 0) {  // heddle: culprit test
    free(obj);                         // heddle: culprit free
  }
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
