// SPDX-License-Identifier: Apache-2.0
// Names of temporary files are the same in every run with a seed: they are printed, and the test
// compares what is printed. In one run no two are the same.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../check.h"

static void* make_one(void* pattern) {
  const int file = mkstemp(pattern);
  CHECK(file >= 0);
  struct stat status;
  CHECK(fstat(file, &status) == 0 && (status.st_mode & 0777) == 0600);
  CHECK(write(file, "x", 1) == 1 && close(file) == 0);
  return NULL;
}

int main(void) {
  char folder[] = "folder-XXXXXX";
  CHECK(mkdtemp(folder) == folder && strcmp(folder, "folder-XXXXXX") != 0);
  CHECK(rmdir(folder) == 0);

  char names[2][16] = {"file-XXXXXX", "file-XXXXXX"};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, make_one, names[0]) == 0);
  make_one(names[1]);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(strcmp(names[0], names[1]) != 0);
  CHECK(unlink(names[0]) == 0 && unlink(names[1]) == 0);

  char with_suffix[] = "XXXXXX.txt";
  const int file = mkostemps(with_suffix, 4, O_CLOEXEC);
  CHECK(file >= 0 && strcmp(with_suffix + 6, ".txt") == 0 && fcntl(file, F_GETFD) == FD_CLOEXEC);
  CHECK(close(file) == 0 && unlink(with_suffix) == 0);

  char wrong[] = "XXXXX";
  CHECK(mkstemp(wrong) == -1 && errno == EINVAL);
  printf("%s %s %s %s\n", folder, names[0], names[1], with_suffix);
  return 0;
}
