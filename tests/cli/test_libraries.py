# SPDX-License-Identifier: Apache-2.0
"""Shared libraries of the user's own, built with heddle-cc: their accesses are controlled, named and
replayed like the program's."""

import os
import shutil
import subprocess
import unittest

import workshop

# The race is in the library, between two accesses of its own.
COUNTER = """
static long hits;
void record_hit(void) {
  long seen = hits;
  hits = seen + 1;
}
long all_hits(void) { return hits; }
"""
# A second library, which uses the first.
VISITS = """
void record_hit(void);
long visits;
void visit(void) {
  ++visits;
  record_hit();
}
"""
MAIN = """
#include <assert.h>
#include <pthread.h>
void record_hit(void);
void visit(void);
long all_hits(void);
static void* visitor(void* unused) {
  (void)unused;
  %s();
  return 0;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, visitor, 0);
  visitor(0);
  pthread_join(other, 0);
  assert(all_hits() == 2);
  return 0;
}
"""
# Opened by the program itself, with the first one behind it.
PLUGIN = """
void record_hit(void);
long visits;
void visit(void) {
  ++visits;
  record_hit();
}
long all_hits(void);
long count(void) { return all_hits(); }
"""
OPENER = """
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
static void (*visit)(void);
static void* visitor(void* unused) {
  (void)unused;
  visit();
  return 0;
}
int main(void) {
  void* plugin = dlopen("%s", RTLD_NOW | RTLD_LOCAL);
  assert(plugin != 0);
  visit = (void (*)(void))dlsym(plugin, "visit");
  pthread_t other;
  pthread_create(&other, 0, visitor, 0);
  visitor(0);
  pthread_join(other, 0);
  assert(((long (*)(void))dlsym(plugin, "count"))() == 2);
  return 0;
}
"""


class Libraries(workshop.Workshop):
    def compile(self, text, name, *flags, compiler=workshop.TOOLS / "heddle-cc"):
        (self.work / f"{name}.c").write_text(text)
        subprocess.run([compiler, "-g", "-O1", "-pthread", f"{name}.c", *flags],
                       cwd=self.work, check=True)

    def found_and_replayed(self, **options):
        explored = self.json("explore", "-n", 500, "--", "./prog", status=1, **options)
        failure = explored["failures"][0]
        self.assertEqual(failure["signature"]["kind"], "assert")
        replayed = self.json("replay", failure["run"], "-n", 5, **options)
        self.assertTrue(replayed["reproduced"])
        return failure["run"]

    def test_the_bug_is_in_the_library(self):
        self.compile(COUNTER, "counter", "-shared", "-fPIC", "-o", "libcounter.so.1",
                     "-Wl,-soname,libcounter.so.1")
        os.symlink("libcounter.so.1", self.work / "libcounter.so")
        self.compile(MAIN % "record_hit", "prog", "-o", "prog", "-L.", "-lcounter",
                     "-Wl,-rpath,$ORIGIN")
        run = self.found_and_replayed()
        events = self.heddle("show", "--events", run).stdout
        self.assertRegex(events, r"hits = .*counter\.c:4")
        schedule = self.heddle("show", "--schedule", run).stdout
        self.assertIn("libcounter.so.1:record_hit+", schedule)

    def test_two_libraries_and_names_that_are_paths(self):
        self.compile(COUNTER, "counter", "-shared", "-fPIC", "-o", "libcounter.so")
        self.compile(VISITS, "visits", "-shared", "-fPIC", "-o", "libvisits.so", "./libcounter.so")
        self.compile(MAIN % "visit", "prog", "-o", "prog", "./libvisits.so", "./libcounter.so")
        run = self.found_and_replayed()
        events = self.heddle("show", "--events", run).stdout
        for place in ("counter.c:4", "visits.c:5", "prog.c:"):
            self.assertIn(place, events)

    def test_found_by_the_environment(self):
        (self.work / "lib").mkdir()
        self.compile(COUNTER, "counter", "-shared", "-fPIC", "-o", "lib/libcounter.so")
        self.compile(MAIN % "record_hit", "prog", "-o", "prog", "-Llib", "-lcounter")
        run = self.found_and_replayed(environment={"LD_LIBRARY_PATH": "lib"})
        # The run knows: nobody has to say it again, wherever he is.
        self.assertTrue(self.json("replay", run)["reproduced"])
        self.assertTrue(self.json("reduce", run)["run"])
        self.assertTrue(self.json("pack", run)["reproduced"])

    def test_opened_by_the_program_itself(self):
        """By a path, by a name it looks for in its own run path, and from a library."""
        self.compile(COUNTER, "counter", "-shared", "-fPIC", "-o", "libcounter.so")
        self.compile(PLUGIN, "plugin", "-shared", "-fPIC", "-o", "plugin.so", "./libcounter.so")
        for name in ("./plugin.so", str(self.work / "plugin.so"), "plugin.so"):
            self.compile(OPENER % name, "prog", "-o", "prog", "-Wl,-rpath,$ORIGIN")
            run = self.found_and_replayed()
            events = self.heddle("show", "--events", run).stdout
            for place in ("counter.c:4", "plugin.c:5"):
                self.assertIn(place, events)
            self.assertIn("plugin.so:visit+", self.heddle("show", "--schedule", run).stdout)

    def test_opened_though_built_by_another_compiler(self):
        self.compile(COUNTER, "counter", "-shared", "-fPIC", "-o", "libcounter.so")
        self.compile(PLUGIN, "plugin", "-shared", "-fPIC", "-o", "plugin.so", "./libcounter.so",
                     compiler="cc")
        self.compile(OPENER % "./plugin.so", "prog", "-o", "prog")
        self.json("run", "--", "./prog")

    def test_audit(self):
        self.compile(COUNTER, "counter", "-shared", "-fPIC", "-o", "libcounter.so")
        self.compile(MAIN % "record_hit", "prog", "-o", "prog", "./libcounter.so")
        self.json("explore", "--audit", "--all", "-n", 20, "--", "./prog", status=1)

    def test_a_library_without_its_link(self):
        """Kept links are in the cache; a library of which there is none cannot be derived."""
        cache = {"HEDDLE_CACHE": str(self.work / "cache")}
        os.environ |= cache
        self.addCleanup(os.environ.pop, "HEDDLE_CACHE")
        self.compile(COUNTER, "counter", "-shared", "-fPIC", "-o", "libcounter.so")
        shutil.rmtree(self.work / "cache")
        self.compile(MAIN % "record_hit", "prog", "-o", "prog", "./libcounter.so")
        self.refused("run", "--", "./prog", status=2, says=("libcounter.so", "rebuild"))


if __name__ == "__main__":
    unittest.main()
