// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <dlfcn.h>

int main(void) {
  void* const library = dlopen("libm.so.6", RTLD_NOW);
  double (*const cosine)(double) = (double (*)(double))dlsym(library, "cos");
  printf("%.1f\n", cosine(0));
  void* const unwinder = dlopen("libgcc_s.so.1", RTLD_NOW);
  printf("%d\n", unwinder != NULL);
  run_threads();
  return 0;
}
