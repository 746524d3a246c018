// SPDX-License-Identifier: Apache-2.0
// What the devices of random numbers give is the same in every run with a seed, and not the same
// all the time: it is printed, and the test compares what is printed.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../check.h"

enum { kBytes = 24 };

static void print(const char* what, const unsigned char* bytes) {
  printf("%s", what);
  for (int i = 0; i < kBytes; ++i) printf(" %02x", bytes[i]);
  printf("\n");
}

static void read_descriptor(const char* path, unsigned char* bytes) {
  const int descriptor = open(path, O_RDONLY);
  CHECK(descriptor >= 0);
  CHECK(read(descriptor, bytes, kBytes) == kBytes);
  struct stat status;
  CHECK(fstat(descriptor, &status) == 0 && S_ISCHR(status.st_mode));
  CHECK(close(descriptor) == 0);
}

static void read_stream(unsigned char* bytes) {
  FILE* const stream = fopen("/dev/urandom", "r");
  CHECK(stream != NULL);
  CHECK(fread(bytes, 1, kBytes, stream) == kBytes);
  CHECK(fclose(stream) == 0);
}

static void* reader(void* unused) {
  (void)unused;
  unsigned char bytes[kBytes];
  read_descriptor("/dev/urandom", bytes);
  return NULL;
}

int main(void) {
  unsigned char first[kBytes], second[kBytes], third[kBytes];
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, reader, NULL) == 0);
  read_descriptor("/dev/urandom", first);
  CHECK(pthread_join(thread, NULL) == 0);
  read_descriptor("/dev/random", second);
  read_stream(third);
  CHECK(memcmp(first, second, kBytes) != 0 && memcmp(second, third, kBytes) != 0);
  print("descriptor", first);
  print("descriptor", second);
  print("stream", third);

  // The number of a device's descriptor, used for another file.
  int ends[2];
  CHECK(pipe(ends) == 0);
  CHECK(write(ends[1], "x", 1) == 1 && read(ends[0], first, kBytes) == 1 && first[0] == 'x');
  return 0;
}
