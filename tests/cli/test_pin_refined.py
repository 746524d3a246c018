# SPDX-License-Identifier: Apache-2.0
"""Breakpoints that count only some of the arrivals at a place: in a calling context, with a lock."""

import json
import unittest

from workshop import Workshop

# put() is called as often as the clock says, which is never the same natively; only its last call
# matters. LAST says by what it can be told from the others.
PROGRAM = """
#include <assert.h>
#include <pthread.h>
#include <time.h>
static long noise, hits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void put(long* where, long value) {
  *where = value;
}
static int rounds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 5 + now.tv_nsec / 1000 % 50;
}
static void* adder(void* p);
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, adder, 0);
  __atomic_fetch_add(&hits, 1, __ATOMIC_SEQ_CST);
  pthread_join(thread, 0);
  assert(hits == 2);
}
LAST
"""


def line_of(text):
    """The line of the program that has this text, in both versions."""
    return next(number for number, line in enumerate(LOCKED.splitlines(), 1) if text in line)


IN_CONTEXT = PROGRAM.replace("LAST", """
__attribute__((noinline)) static void finish(void) {
  long seen = __atomic_load_n(&hits, __ATOMIC_RELAXED);
  put(&hits, seen + 1);
}
static void* adder(void* p) {
  for (int i = rounds(); i > 0; --i) put(&noise, i);
  finish();
  return p;
}
""")
LOCKED = PROGRAM.replace("LAST", """
static void* adder(void* p) {
  for (int i = rounds(); i > 0; --i) put(&noise, i);
  pthread_mutex_lock(&lock);
  long seen = __atomic_load_n(&hits, __ATOMIC_RELAXED);
  put(&hits, seen + 1);
  pthread_mutex_unlock(&lock);
  return p;
}
""")


class RefinedPin(Workshop):
    def sides(self, **more):
        """Main's addition goes first, then what put() does; `more` is about the latter."""
        (self.work / "pins.json").write_text(json.dumps({
            "heddle_breakpoints": 1, "failure": {"kind": "assert", "message": "hits == 2"},
            "breakpoints": [{"name": "late", "pause_ms": 500, "at": [
                {"at": {"file": "prog.c", "line": line_of("fetch_add")}, "side": 0,
                 "until": {"file": "prog.c", "line": line_of("fetch_add")}},
                {"at": {"file": "prog.c", "line": line_of("*where =")}, "side": 1, **more}]}]}))
        return "pins.json"

    def failures(self, program, fails, **more):
        """Of eight runs; `fails`: whether any is expected to."""
        checked = self.json("pin", "--check", self.sides(**more), "-n", 8, "--", program,
                            status=1 if fails else 0)
        return checked["with"]["failures"]

    def pinned(self, source, how):
        program = self.build(source)
        self.heddle("explore", "-n", 5000, "--", program, status=1)
        # Reduction leaves the loop out: its run does not show that there are other calls of put(), and
        # natively there are. So the run it was made of is what leads to a pin.
        self.heddle("reduce")
        result = self.json("pin", "-n", 8, "-o", "out")
        self.assertEqual((result["outcome"], result["run"]), ("pinned", "r2"))
        self.assertEqual(result["origin"], f"finding 1, {how}, of r1")
        self.assertGreaterEqual(result["with"]["failures"], 7, result)
        return result

    def test_in_a_calling_context(self):
        program = self.build(IN_CONTEXT)
        self.assertGreaterEqual(self.failures(program, True, within={"function": "finish"}), 7)
        self.assertEqual(self.failures(program, False), 0)
        self.refused("pin", "--check", self.sides(within={"line": 3}), "--", program,
                     says=["a calling context needs a"])
        gone = self.json("pin", "--check", self.sides(within={"function": "finnish"}), "--", program,
                         status=1)
        self.assertEqual(gone["outcome"], "never reached")
        self.assertIn("finish", gone["reason"])

    def test_with_a_lock(self):
        program = self.build(LOCKED)
        taken = {"file": "prog.c", "line": line_of("mutex_lock")}
        self.assertGreaterEqual(self.failures(program, True, holding=taken), 7)
        self.assertEqual(self.failures(program, False), 0)
        gone = self.json("pin", "--check", self.sides(holding={"file": "prog.c", "line": 9}), "--",
                         program, status=1)
        self.assertIn(f"the nearest lines where one is: {line_of('mutex_lock')}", gone["reason"])

    def test_pin_finds_the_context(self):
        side = self.pinned(IN_CONTEXT, "in context")["breakpoints"][0]["at"]
        self.assertIn("finish", [one.get("within", {}).get("function") for one in side])

    def test_pin_finds_the_lock(self):
        side = self.pinned(LOCKED, "lock held")["breakpoints"][0]["at"]
        self.assertIn(line_of("mutex_lock"), [one.get("holding", {}).get("line") for one in side])


if __name__ == "__main__":
    unittest.main()
