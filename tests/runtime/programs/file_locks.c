// SPDX-License-Identifier: Apache-2.0
// Threads that wait for each other's file locks, for those of a child, and cancellation meanwhile.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "../check.h"

static char path[] = "lockedXXXXXX";
static int inside;

static void critical(void) {
  CHECK(inside++ == 0);
  sched_yield();
  sched_yield();
  CHECK(--inside == 0);
}

static void* use_flock(void* unused) {
  const int file = open(path, O_RDWR);
  CHECK(file >= 0);
  for (int i = 0; i < 3; ++i) {
    CHECK(flock(file, LOCK_EX) == 0);
    critical();
    CHECK(flock(file, i == 1 ? LOCK_SH : LOCK_UN) == 0);
  }
  close(file);  // the other way to unlock
  return unused;
}

static void* use_description(void* unused) {
  const int file = open(path, O_RDWR);
  for (int i = 0; i < 3; ++i) {
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 3, .l_len = 4};
    CHECK(fcntl(file, F_OFD_SETLKW, &range) == 0);
    critical();
    range.l_type = F_UNLCK;
    CHECK(fcntl(file, F_OFD_SETLK, &range) == 0);
  }
  close(file);
  return unused;
}

static void* never_gets_it(void* unused) {
  const int file = open(path, O_RDWR);
  CHECK(flock(file, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK);
  flock(file, LOCK_EX);
  CHECK(0);
  return unused;
}

static void run_two(void* (*routine)(void*)) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, routine, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

int main(void) {
  const int file = mkstemp(path);
  CHECK(file >= 0);
  run_two(use_flock);
  run_two(use_description);

  CHECK(flock(file, LOCK_EX) == 0);
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, never_gets_it, NULL);
  sched_yield();
  pthread_cancel(thread);
  pthread_join(thread, &result);
  CHECK(result == PTHREAD_CANCELED);
  CHECK(flock(file, LOCK_UN) == 0);

  // A lock of fcntl belongs to the process: threads do not wait for each other, but for a child.
  int ready[2];
  char byte = 0;
  CHECK(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const int same = open(path, O_RDWR);
    CHECK(lockf(same, F_LOCK, 0) == 0 && write(ready[1], "", 1) == 1);
    usleep(20000);
    _exit(0);
  }
  CHECK(read(ready[0], &byte, 1) == 1);
  CHECK(lockf(file, F_TLOCK, 0) == -1 && (errno == EAGAIN || errno == EACCES));
  CHECK(lockf(file, F_TEST, 0) == -1 && errno == EACCES);
  CHECK(lockf(file, F_LOCK, 0) == 0 && lockf(file, F_TEST, 0) == 0);
  CHECK(lockf(file, F_ULOCK, 0) == 0 && lockf(file, 77, 0) == -1 && errno == EINVAL);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  unlink(path);
  return 0;
}
