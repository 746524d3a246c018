# SPDX-License-Identifier: Apache-2.0
"""Programs that make life hard: the search survives them, keeps what it has found, and says what to
do. (Those that break the undoing of executions are in tests/carrier.)"""

import os
import subprocess
import unittest

import workshop

# Two threads race for `first`; `%s` is what the loser does.
RACE = """
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first;
static void mischief(void) { %s }
static void* racer(void* self) {
  pthread_mutex_lock(&lock);
  if (first == 0) first = self != 0 ? 2 : 1;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, racer, &lock);
  racer(0);
  pthread_join(other, 0);
  if (first == 2) mischief();
  return 0;
}
"""


class BadPrograms(workshop.Workshop):
    def explore(self, mischief, *flags, status=0):
        program = self.build(RACE % mischief)
        return self.json("explore", "--strategy", "random", "-n", 40, *flags, "--", program,
                         status=status)

    def survives(self, mischief):
        result = self.explore(mischief)
        self.assertEqual(result["schedules"], 40)

    def fails(self, mischief, kind):
        """The failure is kept, and comes back."""
        result = self.explore(mischief, "--all", status=1)
        self.assertEqual(result["schedules"], 40)
        self.assertEqual([failure["signature"]["kind"] for failure in result["failures"]], [kind])
        self.assertTrue(self.json("replay", result["failures"][0]["run"])["reproduced"])

    def test_exhausts_descriptors(self):
        self.survives("while (open(\"/dev/null\", O_RDONLY) >= 0) {} if (errno != EMFILE) abort();")

    def test_exhausts_memory(self):
        self.survives("while (malloc(1ul << 32) != 0) {} if (errno != ENOMEM) abort();")

    def test_closes_descriptors_of_others(self):
        self.survives("for (int i = 3; i < 4096; ++i) close(i);")

    def test_closes_descriptors_by_system_call(self):
        self.survives("syscall(SYS_close_range, 3u, ~0u, 0u);")

    def test_forks_itself_into_the_background(self):
        self.survives("if (fork() != 0) _exit(0); setsid(); if (fork() != 0) _exit(0); _exit(3);")

    def test_becomes_a_daemon(self):
        self.survives("if (daemon(0, 0) != 0) abort();")

    def test_kills_itself(self):
        self.fails("kill(getpid(), SIGKILL);", "signal")

    def test_overwrites_what_is_not_its_own(self):
        self.fails("volatile char* p = (char*)&lock - 64; for (long i = 0; i < 64l << 20; ++i) p[i] = 0x5a;", "signal")

    def test_uses_io_uring(self):
        program = self.build(RACE % "char p[256] = {0}; syscall(SYS_io_uring_setup, 4, p);")
        self.refused("explore", "--strategy", "random", "-n", 40, "--", program,
                     says=["io_uring", "docs/limits.md"])

    def test_is_static(self):
        source = workshop.BUGS / "lost_update" / "buggy.c"
        for compiler in ("gcc", workshop.TOOLS / "heddle-cc"):
            subprocess.run([compiler, "-static", "-pthread", source, "-o", "prog"], cwd=self.work,
                           check=True)
            self.refused("explore", "--", "./prog", says=["without -static"])

    @unittest.skipUnless(os.getuid() == 0, "only root can make a program another user's")
    def test_is_setuid(self):
        program = self.work / self.build(RACE % "")
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        self.refused("explore", "--", "./prog", says=["setuid", "cp "])

    def test_is_a_script(self):
        script = self.work / "script"
        script.write_text("#!/bin/sh\nexit 0\n")
        script.chmod(0o755)
        self.refused("explore", "--", "./script", says=["not a script"])
