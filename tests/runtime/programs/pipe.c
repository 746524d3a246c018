// SPDX-License-Identifier: Apache-2.0
// Pipes and eventfds between threads: readers wait, writers of more than fits wait.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

#include "../check.h"

enum { kLarge = 200000 };
static int pipe_ends[2], event, back[2];

static void* reader(void* unused) {
  char c = 0;
  int count = 0;
  while (read(pipe_ends[0], &c, 1) == 1 && c != 'q') ++count;
  CHECK(count == 10);
  char* buffer = malloc(kLarge);
  for (int done = 0; done < kLarge;) {
    const ssize_t got = read(pipe_ends[0], buffer + done, (size_t)(kLarge - done));
    CHECK(got > 0);
    done += (int)got;
  }
  for (int i = 0; i < kLarge; ++i) CHECK(buffer[i] == (char)i);
  free(buffer);
  CHECK(read(pipe_ends[0], &c, 1) == 0);
  return unused;
}

static void* writer(void* unused) {
  for (int i = 0; i < 10; ++i) CHECK(write(pipe_ends[1], "x", 1) == 1);
  CHECK(write(pipe_ends[1], "q", 1) == 1);
  char* buffer = malloc(kLarge);
  for (int i = 0; i < kLarge; ++i) buffer[i] = (char)i;
  CHECK(write(pipe_ends[1], buffer, kLarge) == kLarge);
  free(buffer);
  close(pipe_ends[1]);
  return unused;
}

static void* counter(void* unused) {
  uint64_t value = 0;
  CHECK(eventfd_read(event, &value) == 0 && value == 1);
  char a[2], b[2];
  struct iovec parts[2] = {{a, 2}, {b, 2}};
  CHECK(readv(back[0], parts, 2) == 4 && memcmp(a, "ab", 2) == 0 && memcmp(b, "cd", 2) == 0);
  return unused;
}

int main(void) {
  CHECK(pipe(pipe_ends) == 0 && pipe(back) == 0);
  event = eventfd(0, 0);
  pthread_t threads[3];
  pthread_create(&threads[0], NULL, reader, NULL);
  pthread_create(&threads[1], NULL, writer, NULL);
  pthread_create(&threads[2], NULL, counter, NULL);
  CHECK(eventfd_write(event, 1) == 0);
  CHECK(write(back[1], "abcd", 4) == 4);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);

  char c;
  fcntl(back[0], F_SETFL, O_NONBLOCK);
  CHECK(read(back[0], &c, 1) == -1 && errno == EAGAIN);
  CHECK(read(-1, &c, 1) == -1 && errno == EBADF);
  puts("done");
  return 0;
}
