// SPDX-License-Identifier: Apache-2.0
//
// Check then use. A monitor prints what a connection is doing: it checks that the text is there
// and then reads the pointer again to print it. The connection clears the pointer in between.
// Origin: LOCON's shape 6 (R-W-R); MySQL's proc_info, checked and printed while another thread
// clears it.

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
  if (atomic_load(&c->doing) != NULL) {         // heddle: culprit check
    const char* text = atomic_load(&c->doing);  // heddle: culprit use
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
  atomic_store(&c->doing, NULL);  // heddle: culprit clear
  pthread_join(thread, NULL);
  free(c);
  return 0;
}
