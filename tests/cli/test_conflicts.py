# SPDX-License-Identifier: Apache-2.0
import json
import unittest

from workshop import BUGS, Workshop

ALONE = "int main(void) { return 0; }\n"

# The worker may finish before or after main looks: both are fine, one is called wrong below.
RESULT = """
#include <pthread.h>
#include <stdio.h>
int usleep(unsigned); static volatile int result;
static void* work(void* p) {
  usleep(50000); result = 7;  // natively main is there before, also where the machine is busy
  return p;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, work, 0);
  printf("%d\\n", result);
  pthread_join(a, 0);
  return 0;
}
"""

# Without preemptions the user of the block is done, and has had the lock, before main takes the block
# away: by what such a run shows, the contention for the lock is the likelier conflict.
TAKEN_DOWN = """
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value, uses;
static int* volatile block = &value;
static void* use(void* p) {
  *block = 1;
  pthread_mutex_lock(&lock);
  ++uses;
  pthread_mutex_unlock(&lock);
  return p;
}
static void* other(void* p) {
  return p;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, use, 0);
  pthread_create(&b, 0, other, 0);
  pthread_join(b, 0);
  pthread_mutex_lock(&lock);
  ++uses;
  pthread_mutex_unlock(&lock);
  block = 0;
  pthread_join(a, 0);
  return 0;
}
"""


class Conflicts(Workshop):
    def test_the_table(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        found = self.json("conflicts", "--sarif", "out.sarif", "-o", "out", "--", program, status=1)
        self.assertEqual((found["command"], found["outcome"], found["run"]),
                         ("conflicts", "failing-order", None))
        self.assertEqual(found["conflicts"], 2)
        self.assertEqual(len(found["rows"]), 3)
        best = max(found["rows"][:2], key=lambda row: row["failure_percent"])
        self.assertEqual((best["first"]["line"], best["second"]["line"]), (18, 19))
        self.assertEqual((best["effect"], best["kind"], best["variable"], best["observed"]),
                         ("fails", "race", "hits", True))
        self.assertEqual(best["hit_percent"], 100)
        other = min(found["rows"][:2], key=lambda row: row["failure_percent"])
        self.assertEqual(other["effect"], "harmless")
        sarif = json.loads((self.work / "out.sarif").read_text())
        self.assertEqual(sarif["version"], "2.1.0")
        self.assertEqual([result["level"] for result in sarif["runs"][0]["results"]],
                         ["error", "error"])
        still = self.json("pin", "--check", found["files"]["breakpoints"], "-n", 5, status=1)
        self.assertEqual(still["outcome"], "still there")

    def test_text(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        printed = self.heddle("conflicts", "-n", 8, "--", program, status=1).stdout
        self.assertIn("data race: hits", printed)
        self.assertIn("the program fails when this happens", printed)
        self.assertIn("heddle pin --check", printed)

    def test_what_is_wrong_is_the_users_to_say(self):
        program = self.build(RESULT)
        harmless = self.json("conflicts", "--", program)
        self.assertEqual(harmless["outcome"], "no-failing-order")
        wrong = self.json("conflicts", "--fails-if", "grep -q 7 $HEDDLE_STDOUT", "--", program,
                          status=1)
        best = max(wrong["rows"], key=lambda row: row["failure_percent"])
        self.assertEqual((best["first"]["line"], best["second"]["line"]), (6, 12))

    def test_nothing_to_find(self):
        found = self.json("conflicts", "--", self.build(ALONE))
        self.assertEqual((found["outcome"], found["rows"]), ("no-conflicts", []))

    def test_mistakes(self):
        plain = self.build(ALONE, "plain", compiler="clang-19")
        self.refused("conflicts", "--", plain, says=["was not built with heddle-cc"])
        self.refused("conflicts", "--", "./absent", says=["absent"])
        self.refused("conflicts", "--schedules", "0", "--", plain, says=["at least one run"])
        self.refused("conflicts", says=["required"])

    def test_too_many(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        found = self.json("conflicts", "--most", "1", "--", program, status=1)
        self.assertEqual((found["conflicts"], found["left_out"]), (1, 1))

    def test_one_run_is_enough_to_choose_by(self):
        program = self.build(TAKEN_DOWN)
        found = self.json("conflicts", "--schedules", "1", "--recordings", "0", "--most", "1", "--",
                          program, status=1)
        self.assertEqual((found["outcome"], found["left_out"]), ("failing-order", 1))
        best = max(found["rows"], key=lambda row: row["failure_percent"])
        self.assertEqual((best["kind"], best["effect"], best["variable"]), ("race", "fails", "block"))


if __name__ == "__main__":
    unittest.main()
