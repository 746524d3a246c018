// SPDX-License-Identifier: Apache-2.0
// Plain accesses of a forked child, which nobody controls, need not come to the runtime; those of
// its parent must.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"

enum { kSites = 3, kUnheard = kSites };
static uint8_t shutters[kSites + 1];

// As the pass has every module do.
__attribute__((constructor)) static void show_shutters(void) {
  void (*show)(void*, uint64_t, uint32_t) =
      (void (*)(void*, uint64_t, uint32_t))dlsym(RTLD_DEFAULT, "__heddle_shutters");
  CHECK(show != NULL);
  show(shutters, kSites, 1 << 20);
}

int main(void) {
  CHECK(shutters[kUnheard] == 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(shutters[kUnheard] == 1 ? 0 : 1);
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(shutters[kUnheard] == 0);
  return 0;
}
