# SPDX-License-Identifier: Apache-2.0
"""Stacks as sites: of cores, of processes, and of runs that failed."""

import os
import pathlib
import resource
import signal
import subprocess
import time
import unittest

from workshop import BUGS, TOOLS, Workshop

PROGRAM = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int cells[8];
static volatile int stage;

static inline void set_cell(int* to, int value) {
  *to = value * value;
}

__attribute__((noinline)) static void fill(int* to, int count) {
  for (int i = 0; i < count; ++i) set_cell(&to[i], i);
}

static void wait_until_main_sleeps(void) {
  char state[128] = "";
  while (strstr(state, ") S ") == NULL) {
    FILE* file = fopen("/proc/self/stat", "r");
    if (file == NULL || fgets(state, sizeof state, file) == NULL) abort();
    fclose(file);
  }
}

static void* worker(void* argument) {
  wait_until_main_sleeps();  // in pthread_join, where its stack is looked at
  fill(cells, stage + 4);
  stage = 1;
  if (argument) fill((int*)argument, stage + 3);
  for (;;) pause();
}

int main(int argc, char** argv) {
  pthread_t thread;
  pthread_create(&thread, NULL, worker, argc > 1 ? (void*)8 : NULL);
  pthread_join(thread, NULL);
  return 0;
}
"""


def line_of(text):
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


def functions(thread):
    return [frame["function"] for entry in thread["stack"] for frame in entry["frames"]]


class Stacks(Workshop):
    def build_production(self, *flags, name="prog"):
        source = self.work / "program.c"
        source.write_text(PROGRAM)
        subprocess.run([TOOLS / "heddle-cc", "-g", "-O2", "-pthread", *flags, source, "-o",
                        self.work / name], check=True,
                       env={**os.environ, "HEDDLE_VARIANT": "production"})
        return f"./{name}"

    def core_of(self, program):
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
        if pattern.startswith("|") or "/" in pattern:
            self.skipTest(f"cores do not go to the working directory here ({pattern})")
        subprocess.run([program, "crash"], cwd=self.work, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
        return next(self.work.glob("core*"))

    def check_crashed(self, shown):
        self.assertEqual(shown["signal"], signal.SIGSEGV)
        crashed, other = shown["threads"]
        # The access was made by an inlined function: both are told, and the site is the store.
        at = crashed["stack"][0]
        self.assertEqual([frame["function"] for frame in at["frames"]], ["set_cell", "fill"])
        self.assertEqual(at["frames"][0]["line"], line_of("*to = value"))
        self.assertEqual([site["kind"] for site in at["sites"] if site["kind"] != "block"], ["store"])
        self.assertTrue(any(begin <= at["file_address"] < end for begin, end in at["ranges"]))
        self.assertIn("worker", functions(crashed))
        # The caller is at its call, not behind it.
        waits = next(entry for entry in other["stack"]
                     if entry["frames"] and entry["frames"][0]["function"] == "main")
        self.assertEqual([site["callee"] for site in waits["sites"]], ["pthread_join"])
        return at["address"]

    def test_a_core_is_shown_as_sites(self):
        for flags in ((), ("-no-pie",)):
            program = self.build_production(*flags)
            core = self.core_of(program)
            address = self.check_crashed(self.json("show", "--sites", program, "--core", core))
            place = self.json("show", "--sites", program, "--core", core,
                              "--pc", hex(address))["addresses"][0]
            self.assertEqual([site["kind"] for site in place["sites"] if site["kind"] != "block"],
                             ["store"], flags)
            self.assertIn("set_cell program.c", self.heddle("show", "--sites", program, "--core",
                                                           core).stdout)
            core.unlink()

    def test_bad_cores_are_refused(self):
        program = self.build_production()
        core = self.core_of(program)
        whole = core.read_bytes()
        broken = self.work / "broken"
        for contents, words in ((whole[:len(whole) // 2], "cut off"), (b"", "not a file with contents"),
                                (b"no core", "no ELF file"),
                                ((self.work / "prog").read_bytes(), "not a core"),
                                (whole[:18] + b"\x28" + whole[19:], "another machine")):
            broken.write_bytes(contents)
            self.refused("show", "--sites", program, "--core", broken, says=[words, "gcore"])
        self.refused("show", "--sites", program, "--core", "nowhere", says=["cannot read nowhere"])
        other = self.build_production("-DOTHER", "-O1", name="other")
        self.refused("show", "--sites", other, "--core", core, says=["another build", "build-id"])

    def test_a_process_is_shown_and_goes_on(self):
        for flags in ((), ("-no-pie",)):
            program = self.build_production(*flags)
            process = subprocess.Popen([program], cwd=self.work)
            try:
                for _ in range(100):
                    shown = self.json("show", "--sites", program, "--pid", process.pid)
                    names = [functions(thread) for thread in shown["threads"]]
                    # The new thread may be there before the old one is back from making it.
                    if len(names) == 2 and "main" in names[0] and "worker" in names[1]:
                        break
                    time.sleep(0.05)
                self.assertIn("main", names[0])
                self.assertIn("worker", names[1])
                state = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                self.assertNotIn("State:\tt", state)
                self.assertIn("TracerPid:\t0", state)
                self.assertIsNone(process.poll())
            finally:
                process.kill()
                process.wait()
        self.refused("show", "--sites", program, "--pid", process.pid, says=["no process"])
        self.refused("show", "--sites", program, "--pid", os.getpid(), says=["another program"])
        self.refused("show", "--sites", program, "--pid", "x", says=["'x' is not a process"])

    def test_a_native_program_has_lines_but_no_sites(self):
        source = self.work / "program.c"
        source.write_text(PROGRAM)
        program = self.build(source)
        shown = self.json("show", "--sites", program, "--core", self.core_of(program))
        self.assertFalse(shown["has_sites"])
        self.assertIn("worker", functions(shown["threads"][0]))


HANG = """
#include <pthread.h>
static int counter;
static void* spin(void* argument) {
  for (volatile long i = 0;; ++i) {
  }
  return argument;
}
int main(void) {
  pthread_t thread;
  counter = 1;
  pthread_create(&thread, 0, spin, 0);
  pthread_join(thread, 0);
  return counter;
}
"""


class FailedRuns(Workshop):
    def stacks(self, program, *options):
        found = self.json("explore", *options, "--", program, status=1)["failures"][0]
        stored = self.json("show", found["run"])["failure"]["stacks"]
        self.assertEqual(stored, found["failure"]["stacks"])
        self.assertTrue(all(stack["whole"] for stack in stored), stored)
        self.heddle("replay", found["run"], "-n", 3)
        return {stack["thread"]: [frame["function"] for frame in stack["frames"] if frame["line"]]
                for stack in stored}

    def test_every_thread_tells_what_it_was_doing(self):
        expected = {
            "lock_order_deadlock": "deadlock",
            "lost_update": "assert",
        }
        for carrier in ("fiber", "kernel"):
            for name in expected:
                source = next((BUGS / name).glob("buggy.c*"))
                compiler = "heddle-c++" if source.suffix == ".cpp" else "heddle-cc"
                program = self.build(source, name=f"{name}_{carrier}", compiler=compiler)
                stacks = self.stacks(program, "--carrier", carrier)
                self.assertIn("main", stacks["t0"], (name, carrier))
                self.assertTrue(all(stacks.values()), (name, carrier, stacks))
                if expected[name] == "deadlock":
                    self.assertGreaterEqual(len(stacks), 2)
                shown = self.heddle("show", "latest").stdout
                self.assertIn("The threads were at:", shown)

    def test_a_crash_and_a_hang(self):
        crash = self.build("""
            #include <pthread.h>
            static int* volatile target;  // or the compiler takes it for never null
            static void set(int* volatile* at) { *at = 0; }
            static void* worker(void* argument) { set(&target); return argument; }
            int main(void) {
              static int value;
              pthread_t thread;
              target = &value;
              pthread_create(&thread, 0, worker, 0);
              *target = 1;
              pthread_join(thread, 0);
              *target = 2;
              return 0;
            }""", name="crash")
        self.assertEqual(self.stacks(crash)["t0"][-1], "main")
        hang = self.build(HANG, name="hang")
        for carrier in ("fiber", "kernel"):
            failure = self.json("run", "--carrier", carrier, "--timeout", "1", "--", hang,
                                status=1)["failure"]
            stacks = {stack["thread"]: [frame["function"] for frame in stack["frames"]]
                      for stack in failure["stacks"]}
            self.assertEqual(failure["kind"], "hang")
            self.assertIn("spin", stacks["t0.1"], carrier)
            self.assertIn("main", stacks["t0"], carrier)


if __name__ == "__main__":
    unittest.main()
