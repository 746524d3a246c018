// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

static int calls;

int main(void) {
  char* const text = malloc(100);
  snprintf(text, 100, "call %d", ++calls);
  run_threads();
  puts(text);
  fprintf(stderr, "to standard error\n");
  return 0;
}
