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
