// SPDX-License-Identifier: Apache-2.0
// What a program is told of the memory it uses is the same in every run with a seed: it is printed,
// and the test compares what is printed.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"

enum { kResident = 22 };  // fields before it in /proc/self/stat and behind the name, plus two

int main(void) {
  // Touched, so that a kernel would tell: differently each time, as the allocator is.
  char* const memory = malloc((size_t)getpid() * 64);
  CHECK(memory != NULL);
  memset(memory, 1, (size_t)getpid() * 64);

  char text[4096] = "";
  const int descriptor = open("/proc/self/stat", O_RDONLY);
  CHECK(descriptor >= 0 && read(descriptor, text, sizeof text - 1) > 0 && close(descriptor) == 0);
  const char* at = strchr(text, ')');
  for (int i = 0; i < kResident && at != NULL; ++i) at = strchr(at + 1, ' ');
  CHECK(at != NULL && atol(at) > 0);
  printf("%s", text);

  FILE* const stream = fopen("/proc/self/statm", "r");
  long pages = 0;
  long resident = 0;
  CHECK(stream != NULL && fscanf(stream, "%ld %ld", &pages, &resident) == 2 && fclose(stream) == 0);
  CHECK(resident > 0 && pages >= resident);
  printf("%ld %ld\n", pages, resident);
  free(memory);
  return 0;
}
