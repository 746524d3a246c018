// SPDX-License-Identifier: Apache-2.0
// Commands that wait for another thread of the program: system, popen and pclose stop only their
// own thread.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../check.h"

static int ends[2];

static void* feed(void* unused) {
  for (int i = 0; i < 3; ++i) CHECK(write(ends[1], "x\n", 2) == 2);
  return unused;
}

int main(void) {
  char command[64], line[64];
  CHECK(pipe(ends) == 0);
  snprintf(command, sizeof command, "read a <&%d && test $a = x && exit 7", ends[0]);
  pthread_t thread;
  pthread_create(&thread, NULL, feed, NULL);
  const int status = system(command);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  pthread_join(thread, NULL);

  snprintf(command, sizeof command, "read a <&%d; echo got $a; exit 3", ends[0]);
  FILE* const command_output = popen(command, "r");
  CHECK(command_output != NULL && fgets(line, sizeof line, command_output) != NULL);
  CHECK(line[0] == 'g' && line[4] == 'x');
  CHECK(WEXITSTATUS(pclose(command_output)) == 3);

  FILE* const command_input = popen("read a; exit $a", "w");
  CHECK(command_input != NULL && fputs("5\n", command_input) >= 0);
  CHECK(WEXITSTATUS(pclose(command_input)) == 5);
  CHECK(popen("true", "x") == NULL && system(NULL) != 0);
  CHECK(WEXITSTATUS(system("exit 300 2>/dev/null; no-such-command 2>/dev/null")) != 0);
  struct sigaction action;
  CHECK(sigaction(SIGINT, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
  return 0;
}
