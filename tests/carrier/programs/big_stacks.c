// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

static void* fill(void* unused) {
  volatile char large[12 << 20];
  for (int i = 0; i < 12 << 20; i += 4096) large[i] = 1;
  return NULL;
}
int main(void) {
  run_threads();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16 << 20);
  pthread_t thread;
  pthread_create(&thread, &attributes, fill, NULL);
  pthread_join(thread, NULL);
  return 0;
}
