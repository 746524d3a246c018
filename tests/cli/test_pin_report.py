# SPDX-License-Identifier: Apache-2.0
import subprocess
import unittest

from workshop import BUGS, Workshop

# What Helgrind 3.19 and ThreadSanitizer 19 print about bugs/lost_update, without what is not read.
HELGRIND = """
==13035== Thread #2 was created
==13035==    at 0x496EB3F: clone (clone.S:76)
==13035==    by 0x1091C1: main (buggy.c:32)
==13035== ----------------------------------------------------------------
==13035== Possible data race during read of size 8 at 0x10C038 by thread #1
==13035== Locks held: none
==13035==    at 0x109169: record_hit (buggy.c:18)
==13035==    by 0x109183: visitor (buggy.c:24)
==13035==    by 0x1091C9: main (buggy.c:33)
==13035==
==13035== This conflicts with a previous write of size 8 by thread #2
==13035== Locks held: none
==13035==    at 0x109169: record_hit (buggy.c:19)
==13035==    by 0x109183: visitor (buggy.c:24)
==13035==    by 0x484C7D6: ??? (in /usr/libexec/valgrind/vgpreload_helgrind-amd64-linux.so)
==13035==    by 0x48EF1F4: start_thread (pthread_create.c:442)
==13035==  Address 0x10c038 is 0 bytes inside data symbol "hits"
"""
SANITIZER = """
==================
WARNING: ThreadSanitizer: data race (pid=13009)
  Write of size 8 at 0x563f0b188698 by main thread:
    #0 record_hit /elsewhere/{file}:{one}:8 (prog+0xe46f0) (BuildId: 97df)
    #1 visitor /elsewhere/{file}:24:36 (prog+0xe4614) (BuildId: 97df)

  Previous write of size 8 at 0x563f0b188698 by thread T1:
    #0 record_hit /elsewhere/{file}:{other}:8 (prog+0xe46f0) (BuildId: 97df)
    #1 visitor /elsewhere/{file}:24:36 (prog+0xe46b4) (BuildId: 97df)

  Location is global 'hits' of size 8 at 0x563f0b188698 (prog+0x1490698)
==================
"""

# The loop runs millions of times a second; only its last round is one that can fail.
TIGHT = """
#include <assert.h>
#include <pthread.h>
static volatile long hits;
static volatile long noise;
static void* add(void* p) {
  for (int i = 0; i < 300000; ++i)
    noise = i;
  long seen = hits;
  hits = seen + 1;
  return p;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, add, 0);
  add(0);
  pthread_join(a, 0);
  assert(hits == 2);
}
"""

ECHO = """
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static volatile long hits;
static void* add(void* p) {
  long seen = hits;
  hits = seen + 1;
  return p;
}
int main(void) {
  if (getchar() != 'y') return 0;
  pthread_t a;
  pthread_create(&a, 0, add, 0);
  add(0);
  pthread_join(a, 0);
  assert(hits == 2);
}
"""


# Nobody connects: natively it waits for ever in accept.
SERVER = """
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
static volatile long hits;
static void* add(void* p) {
  long seen = hits;
  hits = seen + 1;
  return p;
}
int main(void) {
  struct sockaddr_un name = {AF_UNIX, "peer.sock"};
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&name, sizeof name) || listen(listener, 1)) return 0;
  if (accept(listener, 0, 0) < 0) return 0;
  pthread_t a;
  pthread_create(&a, 0, add, 0);
  add(0);
  pthread_join(a, 0);
  assert(hits == 2);
}
"""

# One line, twice in the program and nowhere as itself.
INLINED = """
#include <assert.h>
#include <pthread.h>
static volatile long hits;
static inline __attribute__((always_inline)) void add(void) {
  long seen = hits;
  hits = seen + 1;
}
static void* worker(void* p) {
  add();
  return p;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  add();
  pthread_join(a, 0);
  assert(hits == 2);
}
"""


class PinReport(Workshop):
    def report(self, text, name="report.txt"):
        (self.work / name).write_text(text)
        return name

    def sanitizer(self, one, other, file="buggy.c"):
        return self.report(SANITIZER.replace("{file}", file).replace("{one}", str(one))
                           .replace("{other}", str(other)))

    def pin(self, report, program, *more, status=0):
        return self.json("pin", "--report", report, "-n", 5, "-o", "out", *more, "--", program,
                         status=status)

    def test_races_of_both_tools_are_pinned(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        for report in (self.report(HELGRIND), self.sanitizer(19, 19)):
            pinned = self.pin(report, program)
            self.assertEqual(pinned["outcome"], "pinned")
            self.assertEqual(pinned["failure_percent"], 100)
            after = self.json("pin", "--check", pinned["files"]["breakpoints"], "-n", 3, "--",
                              self.build(BUGS / "lost_update" / "fixed.c", "fixed"))
            self.assertEqual(after["outcome"], "gone")

    def test_what_the_sanitizer_itself_prints(self):
        source = BUGS / "lost_update" / "buggy.c"
        subprocess.run(["clang-19", "-g", "-O1", "-fsanitize=thread", "-pthread", source, "-o",
                        self.work / "tsan"], check=True)
        # Where its fixed addresses are taken the tool cannot start; that says nothing about us.
        printed = subprocess.run(["setarch", "-R", self.work / "tsan"], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        if "data race" not in printed:
            self.skipTest(f"ThreadSanitizer saw no race in this run: {printed[:200]}")
        pinned = self.pin(self.report(printed), self.build(source))
        self.assertEqual((pinned["outcome"], pinned["failure_percent"]), ("pinned", 100))

    def test_a_report_of_another_build(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        self.refused("pin", "--report", self.sanitizer(4000, 4001), "--", program,
                     says=["buggy.c:4000", "the nearest lines that do"])
        self.refused("pin", "--report", self.sanitizer(9, 9, file="other.c"), "--", program,
                     says=["no code of the program is in", "other.c"])
        # A line that is there, but touches nothing any more (a comment, or optimised away).
        self.refused("pin", "--report", self.sanitizer(11, 12), "--", program,
                     says=["touches memory or calls out of the program, or it was optimised away"])

    def test_what_is_no_report(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        self.refused("pin", "--report", self.report("all is well\n"), "--", program,
                     says=["has no data race with source lines"])
        self.refused("pin", "--report", "absent.txt", "--", program, says=["absent.txt"])
        self.refused("pin", "--report", self.report(HELGRIND), says=["which program?"])

    def test_a_place_in_a_tight_loop(self):
        program = self.build(TIGHT)
        # Both lines of the report are in the loop: it is met at once, and nothing fails there.
        loop = self.pin(self.sanitizer(8, 8, file="prog.c"), program, status=1)
        self.assertEqual(loop["outcome"], "not-pinned")
        # One side in the loop, one behind it: the pause ends, the loop goes on at speed.
        mixed = self.json("pin", "--report", self.sanitizer(8, 10, file="prog.c"), "-n", 5, "-o",
                          "out", "--", program, status=1)
        self.assertEqual(mixed["outcome"], "not-pinned")
        self.assertEqual(self.pin(self.sanitizer(10, 10, file="prog.c"), program)["outcome"],
                         "pinned")

    def test_a_program_that_needs_input(self):
        program = self.build(ECHO)
        report = self.sanitizer(8, 8, file="prog.c")
        (self.work / "no.txt").write_text("n")
        self.assertEqual(self.pin(report, program, "--stdin", "no.txt", status=1)["outcome"],
                         "not-pinned")
        (self.work / "yes.txt").write_text("y")
        self.assertEqual(self.pin(report, program, "--stdin", "yes.txt")["outcome"], "pinned")

    def test_a_program_that_needs_a_peer(self):
        program = self.build(SERVER)
        self.refused("pin", "--report", self.sanitizer(9, 9, file="prog.c"), "--run-limit", 1, "--",
                     program, says=["still running after 1 s", "a process that nobody starts here",
                                    "--stdin", "--run-limit"])

    def test_an_inlined_place(self):
        program = self.build(INLINED)
        pinned = self.pin(self.sanitizer(7, 7, file="prog.c"), program)
        self.assertEqual((pinned["outcome"], pinned["failure_percent"]), ("pinned", 100))
        # Its beginning is no place: it is nowhere as itself.
        (self.work / "by_name.json").write_text(
            '{"heddle_breakpoints": 1, "failure": {"kind": "assert", "message": "hits == 2"}, '
            '"breakpoints": [{"name": "b", "at": [{"side": "either", "at": {"function": "add"}}]}]}')
        after = self.json("pin", "--check", "by_name.json", "-n", 2, "--", program, status=1)
        self.assertEqual(after["outcome"], "never reached")
        self.assertIn("inlined everywhere", after["reason"])


if __name__ == "__main__":
    unittest.main()
