# SPDX-License-Identifier: Apache-2.0
"""Searching as a user asks for it: strategies by name, their options, and what cannot be."""

import os
import pathlib
import pty
import re
import signal
import subprocess
import time
import unittest

from workshop import BUGS, TOOLS, Workshop

# Much work on memory that a lock protects, and one counter that none does.
LARGE = """
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int table[64];
static int count;
static void *work(void *unused) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 10000; ++i) table[i % 64] += i;
  pthread_mutex_unlock(&lock);
  int seen = count;
  count = seen + 1;
  return unused;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, work, 0);
  work(0);
  pthread_join(other, 0);
  assert(count == 2);
}
"""

# The same, and one thread that waits for the other without asking anybody.
SPINNING = """
#include <pthread.h>
static int table[64];
static volatile int ready;
static void *work(void *unused) {
  for (int i = 0; i < 10000; ++i) table[i % 64] += i;
  ready = 1;
  return unused;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, work, 0);
  while (!ready) {}
  pthread_join(other, 0);
}
"""

SEEDED = ["random", "pct", "pos", "urw", "surw", "guided", "rare"]


class Strategies(Workshop):
    def test_each_finds_the_failure_and_what_it_found_comes_back(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        for strategy in SEEDED + ["chess", "delay", "portfolio", "pos,chess"]:
            with self.subTest(strategy=strategy):
                found = self.json("explore", "--strategy", strategy, "-n", "500", "--", program,
                                  status=1)
                again = self.json("replay", found["run"], "-n", "3")
                self.assertTrue(again["reproduced"])

    def test_surw_gives_a_new_thread_its_share(self):
        # Main creates the thread that has to come first. Of three orders of three operations one
        # fails; a strategy that means main when the thread appears never tries it.
        program = self.build(BUGS / "check_then_use" / "buggy.c")
        for seed in (1, 2, 3):
            self.json("explore", "--strategy", "surw", "--seed", seed, "-n", "100", "--", program,
                      status=1)

    def test_narrowed_points_find_it_and_it_comes_back(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        for points in ("shared", "all"):
            found = self.json("explore", "--preempt-at", points, "--strategy", "random", "-n",
                              "500", "--seed", "3", "--", program, status=1)
            self.assertTrue(self.json("replay", found["run"])["reproduced"])
        # Its race is between plain accesses: synchronisation alone does not separate them.
        self.json("explore", "--preempt-at", "sync", "-n", "200", "--", program, status=0)

    def test_what_nobody_races_for_is_overlooked_in_large_runs(self):
        program = self.build(LARGE)
        search = ("--strategy", "random", "--seed", "3", "-n", "60", "--", program)
        # Among 40,000 switches that change nothing the one that matters is not found.
        said = self.heddle("explore", "--preempt-at", "all", *search)
        self.assertEqual(said.returncode, 0)
        self.assertIn("without --preempt-at all", said.stdout)
        for points in ([], ["--preempt-at", "raced"]):
            with self.subTest(points=points):
                found = self.json("explore", *points, *search, status=1)
                # Trials 1, 9, 17... see all accesses (by default, the first alone); the kept run
                # has them, although its trial did not.
                self.assertNotEqual(found["schedules_to_first_failure"] % 8, 1)
                self.assertGreater(self.json("show", found["run"])["events"], 40_000)
                self.assertTrue(self.json("replay", found["run"], "-n", "3")["reproduced"])

    def test_a_large_run_is_not_taken_for_one_that_does_not_end(self):
        # More events than a run may have, if each access were one.
        larger = LARGE.replace("10000", "100000")
        search = ("--max-events", "150000", "-n", "20", "--")
        passes = self.build(larger.replace("count == 2", "count > 0"))
        found = self.json("explore", "--preempt-at", "all", *search, passes, status=1)
        self.assertEqual(found["failures"][0]["signature"]["kind"], "no-progress")
        self.json("explore", *search, passes, status=0)
        # What fails is kept with all of its accesses.
        fails = self.build(larger, name="fails")
        found = self.json("explore", *search, fails, status=1)
        self.assertEqual(found["failures"][0]["signature"]["kind"], "assert")
        self.assertGreater(self.json("show", found["run"])["events"], 400_000)
        self.assertTrue(self.json("replay", found["run"])["reproduced"])
        # What never ends is reported all the same.
        endless = self.build(LARGE.replace("i < 10000; ++i", "; i = (i + 1) & 63"), name="endless")
        found = self.json("explore", "--max-events", "100000", "--timeout", "2", "-n", "3", "--", endless, status=1)
        self.assertEqual(found["failures"][0]["signature"]["kind"], "no-progress")

    def test_a_thread_that_spins_on_what_it_cannot_see_is_no_failure(self):
        program = self.build(SPINNING)
        self.json("explore", "--preempt-at", "sync", "--timeout", "2", "--strategy", "random",
                  "-n", "6", "--", program, status=0)

    def test_one_run_at_synchronisation_overlooks_accesses_and_comes_back(self):
        program = self.build(LARGE)
        status = self.heddle("run", "--preempt-at", "sync", "--overlook", "1", "--", program).returncode
        self.assertEqual(status, 0)
        self.assertLess(self.json("show", "latest")["events"], 100)
        self.assertTrue(self.json("replay", "latest", "-n", "3")["reproduced"])
        self.refused("run", "--overlook", "1", "--", program, says=["--preempt-at sync"])

    def test_one_run_sees_accesses_for_a_while_and_comes_back(self):
        program = self.build(LARGE)
        overlook = ("run", "--preempt-at", "sync", "--overlook", "1")
        self.heddle(*overlook, "--", program)
        few = self.json("show", "latest")["events"]
        for carrier in ("fiber", "kernel"):
            self.heddle(*overlook, "--carrier", carrier, "--see-from", "3", "--see-events", "500", "--", program)
            # A loop may have looked at its shutters for the last time before.
            self.assertGreater(self.json("show", "latest")["events"], few + 490)
            self.assertTrue(self.json("replay", "latest", "-n", "3")["reproduced"])
        self.refused("run", "--see-events", "5", "--", program, says=["--overlook"])

    def test_pruned_and_full_search_agree(self):
        for name in ("lost_update/buggy.c", "lost_update/fixed.c", "dekker/buggy.c",
                     "dekker/fixed.c", "lock_order_deadlock/buggy.c"):
            program = self.build(BUGS / name)
            seen = []
            runs = []
            for more in ([], ["--unpruned"]):
                found = self.json("explore", "--strategy", "chess", "--max-preemptions", "2",
                                  "--all", "-n", "0", *more, "--", program,
                                  status=1 if "buggy" in name else 0)
                self.assertEqual(found["exhausted_bound"], 2)
                seen.append({failure["signature"]["text"] for failure in found["failures"]})
                runs.append(found["schedules"])
            self.assertEqual(seen[0], seen[1], name)
            self.assertLess(runs[0], runs[1], name)

    def test_interrupting_keeps_what_was_found(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        search = subprocess.Popen(
            [TOOLS / "heddle", "explore", "--json", "--all", "-n", "0", "--time", "60", "--",
             program], cwd=self.work, stdout=subprocess.PIPE, text=True)
        for _ in range(600):  # until something is there to be kept
            if any(self.work.glob(".heddle/runs/*")):
                break
            time.sleep(0.1)
        search.send_signal(signal.SIGINT)
        output, _ = search.communicate(timeout=30)
        self.assertEqual(search.returncode, 1)
        self.assertIn('"interrupted": true', output)
        self.assertTrue(self.json("replay", "latest")["reproduced"])

    def test_a_terminal_shows_what_each_strategy_brings(self):
        program = self.build(BUGS / "lost_update" / "fixed.c")
        main, side = pty.openpty()
        search = subprocess.Popen([TOOLS / "heddle", "explore", "-n", "0", "--time", "2", "--", program],
                                  cwd=self.work, stdout=subprocess.DEVNULL, stderr=side)
        os.close(side)
        shown = b""
        try:
            while chunk := os.read(main, 65536):
                shown += chunk
        except OSError:
            pass
        search.wait()
        os.close(main)
        for word in (b"schedules", b"events a schedule", b"reads-from pairs", b"surw", b"within bound 2"):
            self.assertIn(word, shown)

    def test_without_a_terminal_there_are_plain_lines(self):
        program = self.build(BUGS / "lost_update" / "fixed.c")
        result = self.heddle("explore", "-n", "0", "--time", "11", "--", program)
        lines = [line for line in result.stderr.splitlines() if "schedules" in line]
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(line, r"^heddle: \d+ schedules, \d+ a second, 0 failing")
        self.assertNotIn("\x1b", result.stderr)


class Fairness(Workshop):
    SOURCE = pathlib.Path(__file__).resolve().parents[1] / "search" / "programs" / "spinning.c"
    STRATEGIES = SEEDED + ["chess", "delay", "sequential", "portfolio"]

    def test_waiting_by_running_is_no_failure_under_any_strategy(self):
        program = self.build(self.SOURCE)
        for way in ("flag", "exchange", "yield", "locked", "back-off"):
            for strategy in self.STRATEGIES:
                with self.subTest(way=way, strategy=strategy):
                    found = self.json("explore", "--strategy", strategy, "--max-events", "10000",
                                      "-n", "60", "--", program, way, status=0)
                    self.assertEqual(found["failures"], [])

    def test_waiting_for_each_other_by_running_is_found_by_every_strategy(self):
        program = self.build(self.SOURCE)
        for strategy in self.STRATEGIES:
            with self.subTest(strategy=strategy):
                found = self.json("explore", "--strategy", strategy, "--max-events", "10000",
                                  "-n", "3", "--", program, "livelock", status=1)
                self.assertEqual(found["failures"][0]["signature"]["kind"], "no-progress")
                self.assertTrue(self.json("replay", found["run"])["reproduced"])


class HardFailures(Workshop):
    """bugs/hard: found in minutes; what is checked is that the failure is one, and its fix."""

    def test_the_kept_schedule_fails_and_the_fix_does_not(self):
        for directory in sorted((BUGS / "hard").iterdir()):
            with self.subTest(bug=directory.name):
                program = self.build(directory / "buggy.c", name="buggy")
                found = self.json("run", "--schedule", directory / "failing.schedule", "--",
                                  program, status=1)
                self.assertEqual(found["outcome"], "assert")
                self.assertTrue(self.json("replay", "-n", "20", found["run"])["reproduced"])
                fixed = self.build(directory / "fixed.c", name="fixed")
                self.json("explore", "-n", "2000", "--", fixed, status=0)


class Mistakes(Workshop):
    def test_what_cannot_be_is_said_and_is_the_users_mistake(self):
        program = self.build(BUGS / "lost_update" / "fixed.c")
        for arguments, words in (
            (["--strategy", "guess"], "guess"),
            (["--strategy", ""], "strategy"),
            (["--strategy", "random,random"], "twice"),
            (["--strategy", "prefix"], "prefix"),
            (["-n", "0"], "--time"),
            (["-n", "0", "--strategy", "chess,random"], "--time"),
            (["-j", "0"], "worker"),
            (["--time", "-1"], "--time"),
            (["--depth", "0"], "--depth"),
            (["--depth", "1000"], "--depth"),
            (["--strategy", "chess", "--max-preemptions", "-1"], "--max-preemptions"),
            (["--memory-model", "rmo"], "rmo"),
            (["--preempt-at", "everywhere"], "everywhere"),
        ):
            with self.subTest(arguments=arguments):
                self.refused("explore", *arguments, "--", program, says=[words])

    def test_schedules_that_are_not_this_programs(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        run = self.json("explore", "--", program, status=1)["run"]
        schedule = self.heddle("show", run, "--schedule").stdout
        kept = self.work / "kept"
        other = self.build(BUGS / "dekker" / "buggy.c", name="other")
        kept.write_text(schedule)
        place = re.search(r"\S+\.(load|store)\.\w+", schedule)[0]
        self.refused("run", "--schedule", kept, "--", other, says=[place])
        for damaged, words in ((schedule[:schedule.index("\nend") + 1], "cut off"),
                               (schedule.replace("heddle-schedule 1", "heddle-schedule 999"),
                                "version"),
                               (schedule.replace("-> t0.1", "-> t9", 1), "t9"),
                               ("\x00" * 64, "schedule")):
            kept.write_text(damaged)
            with self.subTest(damaged=damaged[:30]):
                self.refused("run", "--schedule", kept, "--", program, says=[words])
        self.refused("run", "--schedule", self.work / "none", "--", program, says=["none"])


if __name__ == "__main__":
    unittest.main()
