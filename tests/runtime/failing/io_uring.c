// SPDX-License-Identifier: Apache-2.0
// EXPECT: unsupported
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
  char parameters[256] = {0};
  syscall(SYS_io_uring_setup, 4, parameters);
  return 0;
}
