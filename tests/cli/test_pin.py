# SPDX-License-Identifier: Apache-2.0
import json
import unittest

from workshop import BUGS, Workshop

# Two threads add; `round` and `limit` are there for conditions.
COUNTER = """
#include <assert.h>
#include <pthread.h>
static volatile int x;
int limit = 3;
static void* add(void* p) {
  for (int round = 0; round < limit; ++round) {
    int seen = x;
    x = seen + 1;
  }
  return p;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, add, 0);
  add(0);
  pthread_join(a, 0);
  assert(x == 6);
}
"""


def at(line, **more):
    return {"at": {"file": "prog.c", "line": line}, "side": "either", **more}


class Pin(Workshop):
    def breakpoints(self, *sides, name="pins.json", **more):
        (self.work / name).write_text(json.dumps({
            "heddle_breakpoints": 1, "failure": {"kind": "assert", "message": "x == 6"},
            "breakpoints": [{"name": "both", "at": sides, **more}]}))
        return name

    def check(self, program, *sides, status, runs=5, **more):
        return self.json("pin", "--check", self.breakpoints(*sides, **more), "-n", runs, "--",
                         program, status=status)

    def test_from_a_run_to_a_test(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        self.heddle("explore", "--", program, status=1)
        pinned = self.json("pin", "-n", 5, "-o", "out")
        self.assertEqual((pinned["command"], pinned["outcome"], pinned["run"]),
                         ("pin", "pinned", "r1"))
        self.assertEqual(pinned["failure_percent"], 100)
        self.assertEqual(pinned["hit_percent"], 100)
        self.assertEqual(len(pinned["breakpoints"]), 1)
        for name in ("breakpoints", "patch", "ctest", "googletest"):
            self.assertTrue((self.work / pinned["files"][name]).is_file(), name)
        still = self.json("pin", "--check", "out/prog.breakpoints.json", "-n", 5, status=1)
        self.assertEqual(still["outcome"], "still there")
        fixed = self.build(BUGS / "lost_update" / "fixed.c", "fixed")
        after = self.json("pin", "--check", "out/prog.breakpoints.json", "-n", 5, "--", fixed)
        self.assertEqual(after["outcome"], "gone")
        other = self.build(COUNTER, "other")
        self.assertEqual(self.json("pin", "--check", "out/prog.breakpoints.json", "-n", 5, "--",
                                   other, status=1)["outcome"], "never reached")

    def test_a_line_by_hand(self):
        program = self.build(COUNTER)
        self.assertEqual(self.check(program, at(9), status=1)["outcome"], "still there")

    def test_conditions_on_locals_and_globals(self):
        program = self.build(COUNTER)
        holds = self.check(program, at(9, when="round == 2 && limit > 2"), status=1)
        self.assertEqual(holds["outcome"], "still there")
        never = self.check(program, at(9, when="round == 3 || limit != 3"), status=1)
        self.assertEqual(never["outcome"], "never reached")

    def test_one_thread_of_several(self):
        program = self.build(COUNTER)

        def sides(first, second):
            return ({"at": {"file": "prog.c", "line": 9}, "side": 0, "thread": first},
                    {"at": {"file": "prog.c", "line": 9}, "side": 1, "thread": second})

        met = self.check(program, *sides("t0", "t0.1"), status=1)
        self.assertEqual(met["outcome"], "still there")
        self.assertEqual(met["hit_percent"], 100)
        # The pause of t0 in vain is enough for the bug; but nobody was met.
        nobody = self.check(program, *sides("t0", "t0.2"), status=1)
        self.assertEqual(nobody["hit_percent"], 0)
        self.refused("pin", "--check", self.breakpoints(at(9, thread="worker")), "--", program,
                     says=["is a birth like t0.2"])

    def test_inside_a_wait(self):
        program = self.build(BUGS / "bounded_buffer" / "buggy.c")
        self.heddle("explore", "--", program, status=1)
        self.heddle("reduce")
        pinned = self.json("pin", "-n", 8, "-o", "out")
        self.assertEqual(pinned["outcome"], "pinned")
        self.assertGreaterEqual(pinned["with"]["failures"], 7)
        self.assertTrue(any(side.get("woken") for breakpoint in pinned["breakpoints"]
                            for side in breakpoint["at"]), pinned["breakpoints"])
        self.assertEqual(pinned["files"]["patch"], "")
        still = self.json("pin", "--check", "out/prog.breakpoints.json", "-n", 5, status=1)
        self.assertEqual(still["outcome"], "still there")
        gone = self.check(self.build(COUNTER, "other"),
                          {"at": {"file": "other.c", "line": 9}, "side": "either", "woken": True},
                          status=1)
        self.assertIn("does not wait for a condition", gone["reason"])

    def test_unknown_places_and_names(self):
        program = self.build(COUNTER)

        def refused(side, *says):
            return self.refused("pin", "--check", self.breakpoints(side), "--", program, says=says)

        named = refused(at(9, when="rund == 1"), "nothing is called rund here", "round")
        self.assertNotIn(", ,", named)  # the text of the assertion has no name
        refused(at(9, when="round == "), "a name or a number is missing")
        gone = self.check(program, at(4000), status=1)
        self.assertEqual(gone["outcome"], "never reached")
        self.assertIn("the nearest lines that do: ", gone["reason"])
        gone = self.check(program, {"at": {"function": "ad"}, "side": "either"}, status=1)
        self.assertIn("the nearest names: add", gone["reason"])

    def test_what_cannot_be_pinned(self):
        self.refused("pin", says=["heddle"])
        program = self.build(COUNTER)
        self.heddle("run", "--strategy", "sequential", "--", program)
        self.refused("pin", says=["did not fail"])
        (self.work / "bad.json").write_text("{")
        self.refused("pin", "--check", "bad.json", "--", program, says=["bad.json is no JSON"])
        plain = self.build(COUNTER, "plain", compiler="clang-19")
        self.refused("pin", "--check", self.breakpoints(at(9)), "--", plain,
                     says=["was not built with heddle-cc"])


if __name__ == "__main__":
    unittest.main()
