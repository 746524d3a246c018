# SPDX-License-Identifier: Apache-2.0
import json
import unittest

from workshop import BUGS, Workshop

ALWAYS_FAILS = """
#include <assert.h>
#include <pthread.h>
static int x;
static void* add(void* p) { ++x; return p; }
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, add, 0);
  pthread_join(a, 0);
  assert(x == 2);
}
"""

LOOPS = """
#include <cassert>
#include <thread>
static volatile int x, y;
[[gnu::noinline]] static void search(int wanted) {
  for (int i = 0;; ++i) {
    x = x;
    if (i == wanted) throw i;
  }
}
static void publish(int rounds) {
  for (int i = 1; i <= rounds; ++i) {
    for (int j = 1;; ++j) {
      try {
        search(1);
      } catch (int) {
      }
      x = i;
      y = i;
      if (j == 2) break;
    }
  }
}
int main(int argc, char**) {
  std::thread publisher(publish, argc + 1);
  const int first = y;
  const int second = x;
  publisher.join();
  assert(first <= second && second - first < 2);
  assert(first == second);
}
"""

FILE_DECIDES = """
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static int x;
static void* add(void* p) { ++x; return p; }
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, add, 0);
  ++x;
  pthread_join(a, 0);
  assert(x == 2 || access("careful", F_OK) != 0);
}
"""

TWO_BUGS = """
#include <assert.h>
#include <pthread.h>
static int x, y;
static void* add(void* p) { ++x; y = 1; return p; }
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, add, 0);
  const int seen = y;
  ++x;
  assert(seen == 0);
  pthread_join(a, 0);
  assert(x == 2);
}
"""


CALLS = """
#include <assert.h>
#include <pthread.h>
static int x;
__attribute__((noinline)) static void add(int n) { x += n; }
__attribute__((noinline)) static void deposit(void) { add(1); }
static void* worker(void* p) { deposit(); return p; }
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  add(1);
  pthread_join(a, 0);
  assert(x == 2);
}
"""


class Locate(Workshop):
    def failing(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        self.heddle("explore", "--", program, status=1)
        return program

    def test_json_has_the_fixed_fields(self):
        self.failing()
        located = self.json("locate", "latest")
        self.assertEqual(located["command"], "locate")
        self.assertEqual(located["outcome"], "confirmed")
        self.assertEqual(located["run"], "r1")
        self.assertGreater(located["seconds"], 0)
        finding = located["findings"][0]
        self.assertEqual((finding["rank"], finding["procedure"], finding["level"]), (1, "I", "PC"))
        self.assertEqual(finding["class"], "atomicity-violation")
        pair = finding["pairs"][0]
        self.assertEqual(pair["variable"], "hits")
        self.assertTrue(pair["in_failed_run"])
        for side, line in (("first", 18), ("second", 19)):
            self.assertTrue(pair[side]["file"].endswith("buggy.c"))
            self.assertEqual(pair[side]["line"], line)
            self.assertEqual(pair[side]["function"], "record_hit")
            self.assertRegex(pair[side]["thread"], r"^t0")
        self.assertEqual(len(located["curve"]), located["passing_runs"])
        self.assertGreater(located["nearest_passing"]["common_events"], 0)

    def test_accesses_are_in_the_rounds_of_their_loops(self):
        """Nested loops, one left by break, one by an exception that another function catches."""
        source = self.work / "loops.cpp"
        source.write_text(LOOPS)
        program = self.build(source, compiler="heddle-c++")
        self.heddle("explore", "-n", 2000, "--", program, status=1)
        located = self.json("locate")
        self.assertEqual(located["outcome"], "confirmed")
        lines = {text: number for number, text in enumerate(LOOPS.splitlines(), 1)}
        outer = lines["  for (int i = 1; i <= rounds; ++i) {"]
        inner = lines["    for (int j = 1;; ++j) {"]
        writes = [side for finding in located["findings"] for pair in finding["pairs"]
                  for side in (pair["first"], pair["second"])
                  if side["line"] in (lines["      x = i;"], lines["      y = i;"])]
        self.assertTrue(writes)
        for side in writes:
            self.assertEqual([loop["line"] for loop in side["loops"]], [outer, inner])
            self.assertEqual([loop["entry"] for loop in side["loops"]], [1, 1])
            # The k-th time the thread is there is in round (k + 1) / 2 of two.
            rounds = [loop["iteration"] for loop in side["loops"]]
            self.assertEqual(2 * (rounds[0] - 1) + rounds[1], side["occurrence"])
        self.assertRegex(self.heddle("locate").stdout,
                         rf"in iteration \d of loops.cpp:{outer}, \d of loops.cpp:{inner}")

    def test_accesses_with_their_calling_contexts(self):
        program = self.build(CALLS)
        self.heddle("explore", "--", program, status=1)

        def contexts(*flags):
            pairs = self.json("locate", *flags)["findings"][0]["pairs"]
            return {(side["thread"], tuple(call["function"] for call in side["context"]))
                    for pair in pairs for side in (pair["first"], pair["second"])}

        self.assertEqual(contexts("--context"),
                         {("t0", ("main", "add")), ("t0.1", ("worker", "deposit", "add"))})
        self.assertEqual({context for _, context in contexts()}, {()})
        self.assertIn("(add) in worker, deposit, add", self.heddle("locate", "--context").stdout)

    def test_a_store_that_becomes_visible_too_late(self):
        program = self.build(BUGS / "publish_pso" / "buggy.c")
        self.heddle("explore", "--memory-model", "pso", "--", program, status=1)
        finding = self.json("locate")["findings"][0]
        self.assertTrue(finding["confirmed"])
        self.assertEqual(finding["class"], "memory-order-violation")

    def test_a_failure_that_does_not_come_back(self):
        program = self.build(FILE_DECIDES)
        (self.work / "careful").touch()
        self.heddle("explore", "--", program, status=1)
        (self.work / "careful").unlink()
        self.refused("locate", says=["does not come back", "heddle replay"])

    def test_a_run_of_a_build_that_is_gone(self):
        self.failing()
        self.build(BUGS / "lost_update" / "fixed.c")
        self.refused("locate", says=["built anew", "heddle explore"])

    def test_other_failures_are_kept_apart(self):
        program = self.build(TWO_BUGS)
        self.heddle("explore", "--all", "-n", 300, "--", program, status=1)
        kinds = set()
        for run in ("r1", "r2"):
            located = self.json("locate", run)
            self.assertEqual(located["outcome"], "confirmed")
            kinds.add(located["signature"]["line"])
            self.assertEqual(len(located["other_failures"]), 1)
            self.assertNotIn(located["signature"]["text"], located["other_failures"])
            self.assertIn("Another failure, kept apart", self.heddle("locate", run).stdout)
        self.assertEqual(len(kinds), 2)

    def test_one_procedure_only(self):
        self.failing()
        located = self.json("locate", "--procedure", "II")
        self.assertTrue(all(f["procedure"] == "II" for f in located["findings"]))
        self.refused("locate", "--procedure", "IV", says=["IV"])

    def test_members_are_named(self):
        program = self.build(BUGS / "late_default" / "buggy.c")
        self.heddle("explore", "--", program, status=1)
        located = self.json("locate")
        self.assertEqual(located["findings"][0]["pairs"][0]["variable"], "s->limit")

    def test_sarif_tells_who_did_what_in_which_order(self):
        self.failing()
        self.heddle("locate", "--sarif", "found.sarif")
        log = json.loads((self.work / "found.sarif").read_text())
        self.assertEqual(log["version"], "2.1.0")
        result = log["runs"][0]["results"][0]
        self.assertEqual(result["ruleId"], "atomicity-violation")
        self.assertEqual(log["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]["id"],
                         result["ruleId"])
        flows = result["codeFlows"][0]["threadFlows"]
        self.assertEqual({flow["id"] for flow in flows}, {"t0", "t0.1"})
        steps = [step for flow in flows for step in flow["locations"]]
        orders = sorted(step["executionOrder"] for step in steps)
        self.assertEqual(orders, list(range(1, len(steps) + 1)))
        for step in steps:
            place = step["location"]["physicalLocation"]
            self.assertTrue(place["artifactLocation"]["uri"].endswith("buggy.c"))
            self.assertGreater(place["region"]["startLine"], 0)

    def test_the_text_ends_with_what_to_type_next(self):
        self.failing()
        text = self.heddle("locate").stdout
        self.assertIn("heddle reduce r1", text.splitlines()[-1])

    def test_a_run_that_passed_is_refused(self):
        program = self.build(BUGS / "lost_update" / "fixed.c")
        self.heddle("run", "--", program)
        self.refused("locate", says=["did not fail", "heddle explore"])

    def test_runs_of_another_build_are_not_mixed_in(self):
        other = self.build(BUGS / "lost_update" / "fixed.c", name="other")
        self.heddle("run", "--", other)
        self.failing()
        self.refused("locate", "r2", "--with", "r1", says=["another program or build", "heddle ls"])

    def test_kept_passing_runs_help(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        self.heddle("run", "--strategy", "sequential", "--", program)
        self.heddle("explore", "--", program, status=1)
        located = self.json("locate", "r2", "--with", "r1")
        self.assertEqual(located["outcome"], "confirmed")
        self.refused("locate", "r2", "--with", "r2", says=["failed"])

    def test_a_program_that_always_fails(self):
        program = self.build(ALWAYS_FAILS)
        self.heddle("explore", "-n", 10, "--", program, status=1)
        located = self.json("locate")
        self.assertEqual(located["outcome"], "no-passing-run")
        self.assertEqual(located["findings"], [])
        self.assertIn("nothing to do with scheduling", self.heddle("locate").stdout)


if __name__ == "__main__":
    unittest.main()
