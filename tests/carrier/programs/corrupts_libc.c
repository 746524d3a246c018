// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <dlfcn.h>

int main(void) {
  run_threads();
  fflush(stdout);
  // From a variable of libc's on, and of the runtime's, upwards to the end of its data.
  void* const runtime = dlsym(RTLD_DEFAULT, "__heddle_call_site");
  char* starts[] = {(char*)&stdout, (char*)runtime};
  for (int i = 0; i < 2; ++i) {
    if (starts[i] == NULL) continue;
    char* const end = (char*)(((unsigned long)starts[i] | 4095) + 1);
    for (volatile char* at = starts[i]; at != end; ++at) *at = 0x5a;
  }
  *(volatile int*)0 = 1;
  return 0;
}
