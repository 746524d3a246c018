# SPDX-License-Identifier: Apache-2.0
"""heddle reduce --input: a reducer makes an input of the run smaller, with heddle as its test."""

import pathlib
import shutil
import unittest

import workshop

# The line "both" has two threads count, and lose a count. The file is an argument, or standard input.
PROGRAM = r"""
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static int counter;
static void* count(void* unused) {
  counter = counter + 1;
  return unused;
}
int main(int words, char** word) {
  FILE* file = words > 1 ? fopen(word[1], "r") : stdin;
  char line[100];
  while (fgets(line, sizeof line, file) != NULL) {
    if (strcmp(line, "both\n") != 0) continue;
    const int before = counter;
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    assert(counter == before + 2);
  }
  return 0;
}
"""

# Leaves out line after line, as long as the test says that it may.
REDUCER = r"""#!/usr/bin/env python3
import pathlib, subprocess, sys
test, file = sys.argv[1], pathlib.Path(sys.argv[2])
lines = file.read_text().splitlines(keepends=True)
at = 0
while at < len(lines):
    file.write_text("".join(lines[:at] + lines[at + 1:]))
    if subprocess.run([test], stdin=subprocess.DEVNULL).returncode == 0:
        del lines[at]
    else:
        at += 1
file.write_text("".join(lines))
"""
LINES = "one\nboth\nthree\nfour\n"


class ReduceInput(workshop.Workshop):
    def setUp(self):
        super().setUp()
        reducer = self.work / "reducer"
        reducer.write_text(REDUCER)
        reducer.chmod(0o755)
        self.input = self.work / "lines.txt"
        self.input.write_text(LINES)

    def failing_run(self, *arguments):
        found = self.json("explore", "-n", 300, "--", self.build(PROGRAM), *arguments, status=1)
        return found["failures"][0]["run"]

    def test_an_argument_becomes_smaller(self):
        run = self.failing_run("lines.txt")
        result = self.json("reduce", run, "--input", "lines.txt", "--reducer", "./reducer")
        self.assertEqual(pathlib.Path(self.work / result["input"]["file"]).read_text(), "both\n")
        self.assertEqual(self.input.read_text(), LINES)
        again = self.json("replay", result["run"], "-n", 3)
        self.assertEqual(again["identical"], 3)

    def test_with_cvise(self):
        if shutil.which("cvise") is None:
            self.skipTest("cvise is not installed")
        result = self.json("reduce", self.failing_run("lines.txt"), "--input", "lines.txt")
        self.assertEqual(pathlib.Path(self.work / result["input"]["file"]).read_text(), "both\n")

    def test_mistakes(self):
        run = self.failing_run("lines.txt")
        self.refused("reduce", run, "--input", "other.txt", says=["no input 'other.txt'"])
        self.refused("reduce", run, "--input", "lines.txt", "--reducer", "./no-such-reducer", status=3,
                     says=["./no-such-reducer is not installed", "apt-get install cvise"])


if __name__ == "__main__":
    unittest.main()
