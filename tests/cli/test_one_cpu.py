# SPDX-License-Identifier: Apache-2.0
"""Executions stay on their driver's CPU while they are short; neither the program nor its children
see that, and nobody is left there."""

import os
import unittest

import workshop

# Fails where it, or its child, has another number of CPUs than its argument says.
PROGRAM = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int wanted) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != wanted) abort();
  if (pthread_getaffinity_np(pthread_self(), sizeof set, &set) != 0 || CPU_COUNT(&set) != wanted) {
    abort();
  }
}

static _Atomic int first;

static void* come_first(void* unused) {
  first = 1;
  return unused;
}

// The child takes long: only in some executions, so that the one before is a short one.
int main(int count, char** words) {
  const int wanted = atoi(words[1]);
  check(wanted);
  pthread_t thread;
  pthread_create(&thread, NULL, come_first, NULL);
  const int makes_child = count > 2 && first;
  pthread_join(thread, NULL);
  if (makes_child) {
    char command[100];
    snprintf(command, sizeof command, "test $(nproc) = %d", wanted);
    if (system(command) != 0) abort();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) abort();
    check(1);
  }
}
"""


class OneCpu(workshop.Workshop):
    def explore(self, *arguments, schedules):
        self.heddle("explore", "-n", schedules, "--strategy", "random", "--", self.build(PROGRAM),
                    len(os.sched_getaffinity(0)), *arguments)

    def test_the_program_does_not_see_it(self):
        self.explore(schedules=300)

    def test_nor_do_children(self):
        self.explore("child", schedules=60)


if __name__ == "__main__":
    unittest.main()
