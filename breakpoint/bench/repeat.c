// SPDX-License-Identifier: Apache-2.0
//
// Runs the main of another program (renamed to program_main in its object file) many times, so that
// a program of microseconds gives a run that can be timed. Usage: repeat N
#include <stdlib.h>

int program_main(int argc, char** argv);

int main(int argc, char** argv) {
  int times = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < times; ++i) {
    int result = program_main(1, argv);
    if (result != 0) return result;
  }
  return 0;
}
