// SPDX-License-Identifier: Apache-2.0
//
// The main of a program, which whoever includes this has renamed to program_main, again and again;
// how long that took is written to a file, in nanoseconds by the program's own clock (a recording
// has the real one), so that neither the start of a process nor Heddle's own is in it.
// Usage: program N [ARGUMENT…]
#undef main
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
  const int times = atoi(argv[1]);
  struct timespec begin, end;
  argv[1] = argv[0];
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < times; ++i) {
    // Some take no arguments.
    const int result = ((int (*)(int, char**))program_main)(argc - 1, argv + 1);
    if (result != 0) return result;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  FILE* const out = fopen("nanoseconds", "w");
  if (out == NULL) return 99;
  fprintf(out, "%lld\n", (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec);
  return fclose(out);
}
