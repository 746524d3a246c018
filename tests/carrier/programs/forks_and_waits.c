// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <sys/wait.h>

int main(void) {
  run_threads();
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    printf("in the child\n");
    exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child ended with %d\n", WEXITSTATUS(status));
  printf("%d\n", system("exit 3") >> 8);
  return 0;
}
