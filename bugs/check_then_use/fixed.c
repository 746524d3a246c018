// SPDX-License-Identifier: Apache-2.0
//
// Check then use, fixed: the pointer is read once.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct connection {
  _Atomic(const char*) doing;
  int length;
};

static void* monitor(void* arg) {
  struct connection* c = arg;
  const char* text = atomic_load(&c->doing);
  if (text != NULL) {
    while (text[c->length] != 0) ++c->length;
  }
  return NULL;
}

int main(void) {
  struct connection* c = calloc(1, sizeof *c);
  if (c == NULL) return 1;
  atomic_store(&c->doing, "sorting");
  pthread_t thread;
  pthread_create(&thread, NULL, monitor, c);
  atomic_store(&c->doing, NULL);
  pthread_join(thread, NULL);
  free(c);
  return 0;
}
