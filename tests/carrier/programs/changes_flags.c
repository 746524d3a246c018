// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <fcntl.h>
#include <sys/ioctl.h>

int main(void) {
  for (int i = 0; i < 3; ++i) printf("%d %d\n", fcntl(i, F_GETFD), fcntl(i, F_GETFL));
  run_threads();
  fflush(stdout);
  fcntl(0, F_SETFD, FD_CLOEXEC);
  ioctl(1, FIOCLEX);
  return 0;
}
