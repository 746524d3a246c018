// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "threads.h"

#include <grp.h>
#include <sys/resource.h>
#include <unistd.h>

/* What servers do when they begin, and have all they want already. */
int main(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  setrlimit(RLIMIT_NOFILE, &limit);
  if (geteuid() == 0) {
    printf("in %d groups\n", getgroups(0, NULL));
    const gid_t others[] = {65533, 65534};
    setgroups(2, others); /* is undone */
  }
  setgid(getgid());
  setuid(getuid());
  run_threads();
  return 0;
}
