# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from workshop import BUGS, TOOLS, Workshop

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"

# Two threads add to a counter in many rounds; one round of each is enough to lose an update.
ROUNDS = """
#include <heddle/annotate.h>
#include <assert.h>
#include <pthread.h>
static volatile int busy, count;
static void* work(void* p) {
  for (int i = 0; i < 8; ++i) {
    HEDDLE_REPEAT("add") {
      assert(busy == 0);
      busy = 1;
      ++count;
      busy = 0;
    }
  }
  return p;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"""

# The same without a word about it, more rounds, and a failure in a late one.
LATE_ROUND = """
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static volatile int busy, count;
static int rounds;
static void* work(void* p) {
  for (int i = 0; i < rounds; ++i) {
    if (i >= 6) assert(busy == 0);
    busy = 1;
    ++count;
    busy = 0;
  }
  return p;
}
int main(int argc, char** argv) {
  rounds = argc > 1 ? atoi(argv[1]) : 12;
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"""

# Fails in every order in which nobody is preempted.
ALWAYS = """
#include <assert.h>
#include <pthread.h>
static int made;
static void* make(void* p) { made = 1; return p; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, make, 0);
  pthread_create(&b, 0, make, 0);
  assert(made);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"""

# Passes only if a thread runs after one write of main's and before the next.
TURNS = """
#include <assert.h>
#include <pthread.h>
static int step, made;
static void* make(void* p) { if (step == 1) made = 1; return p; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, make, 0);
  pthread_create(&b, 0, make, 0);
  step = 1;
  assert(made);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"""

# The same: main hands out the tasks and does not wait for what is delivered.
DELIVERED = """
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t task;
static int delivered;
static void* work(void* p) {
  sem_wait(&task);
  __atomic_fetch_add(&delivered, 1, __ATOMIC_SEQ_CST);
  return p;
}
int main(void) {
  pthread_t t[2];
  sem_init(&task, 0, 0);
  for (int i = 0; i < 2; ++i) pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 2; ++i) sem_post(&task);
  assert(delivered == 2);
  for (int i = 0; i < 2; ++i) pthread_join(t[i], 0);
  return 0;
}
"""

# Main asserts on what workers deliver; the bug is a lost update.
SUM = """
#include <assert.h>
#include <pthread.h>
static int sum;
static void* work(void* p) {
  int seen = sum;
  sum = seen + 1;
  return p;
}
int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; ++i) pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 3; ++i) pthread_join(t[i], 0);
  assert(sum == 3);
  return 0;
}
"""

# Everybody meets at a barrier before the race: leaving a thread out would starve the others.
BARRIER = """
#include <assert.h>
#include <pthread.h>
static pthread_barrier_t gate;
static int count;
static void* work(void* p) {
  pthread_barrier_wait(&gate);
  int seen = __atomic_load_n(&count, __ATOMIC_SEQ_CST);
  __atomic_store_n(&count, seen + 1, __ATOMIC_SEQ_CST);
  return p;
}
int main(void) {
  pthread_t t[3];
  pthread_barrier_init(&gate, 0, 3);
  for (int i = 0; i < 3; ++i) pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 3; ++i) pthread_join(t[i], 0);
  assert(count == 3);
  return 0;
}
"""


# What is counted and what is summed up has nothing to do with what fails.
UNRELATED = """
#include <assert.h>
#include <pthread.h>
static volatile int busy, count, total, limit;
static void* work(void* p) {
  for (int i = 0; i < limit; ++i) {
    ++count;
    assert(busy == 0);
    busy = 1;
    total += i;
    busy = 0;
  }
  return p;
}
int main(int argc, char** argv) {
  limit = argc + 2;
  pthread_t a, b;
  pthread_create(&a, 0, work, argv);
  pthread_create(&b, 0, work, argv);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"""

# Much is done, and is needed, before there is a second thread.
LONG_BEGINNING = """
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static int table[600];
static int count, others;
static void* work(void* p) {
  int seen = __atomic_load_n(&count, __ATOMIC_SEQ_CST);
  __atomic_store_n(&count, seen + table[7] - 6, __ATOMIC_SEQ_CST);
  return p;
}
static void* other(void* p) {
  __atomic_fetch_add(&others, table[2], __ATOMIC_SEQ_CST);
  return p;
}
int main(int argc, char** argv) {
  BEFORE
  for (int i = 0; i < 600; ++i) table[i] = i;
  for (int i = 0; i < 600; ++i) if (table[i] != i) return 0;
  pthread_t t[5];
  for (int i = 0; i < 5; ++i) pthread_create(&t[i], 0, i < 2 ? work : other, argv);
  for (int i = 0; i < 5; ++i) pthread_join(t[i], 0);
  assert(count == 2);
  return argc - 1;
}
"""


class Reduce(Workshop):
    def failing(self, source, *arguments, **options):
        program = self.build(source, **options)
        return self.json("explore", *arguments, "--", program, status=1)["run"]

    def test_result_is_a_smaller_run_that_replays(self):
        run = self.failing(BUGS / "cache_eviction" / "buggy.cpp", compiler="heddle-c++")
        reduced = self.json("reduce", run)
        for size in (reduced["before"], reduced["after"]):
            self.assertEqual(set(size), {"threads", "events", "switches", "preemptions",
                                         "replay_seconds"})
        self.assertEqual(reduced["after"]["preemptions"], 1)  # bugs/bounds.json
        self.assertTrue(reduced["fewest_preemptions"])
        self.assertTrue(reduced["sequential_passes"])
        self.assertEqual(reduced["from"], run)
        self.assertTrue(self.json("replay", "-n", 5, reduced["run"])["reproduced"])
        again = self.json("reduce", reduced["run"])
        self.assertEqual(again["after"]["preemptions"], 1)

    def test_what_is_reduced_is_not_offered_to_be_reduced_again(self):
        run = self.failing(BUGS / "lost_update" / "buggy.c")
        self.assertIn(f"heddle reduce {run}", self.heddle("show", run).stdout)
        for told in (self.heddle("reduce", run), self.heddle("show", "latest"),
                     self.heddle("locate", "latest")):
            self.assertNotIn("heddle reduce", told.stdout)

    def test_account_names_source_lines_and_reasons(self):
        source = BUGS / "stress_driver" / "buggy.c"
        run = self.failing(source)
        reduced = self.json("reduce", run)
        creation = next(number for number, line in enumerate(source.read_text().splitlines(), 1)
                        if "pthread_create" in line)
        threads = [entry for entry in reduced["account"] if "iterations" not in entry]
        self.assertEqual({entry["line"] for entry in threads}, {creation})
        self.assertEqual(sum(entry["removed"] for entry in threads), 2)
        self.assertTrue(all(entry["why"] for entry in threads))

    def test_workers_give_the_same_result(self):
        run = self.failing(BUGS / "stress_driver" / "buggy.c")
        alone = self.json("reduce", run)
        together = self.json("reduce", "-j", 2, run)
        for field in ("threads", "preemptions"):
            self.assertEqual(alone["after"][field], together["after"][field])

    def test_iterations_of_an_annotated_block(self):
        os.environ["CPATH"] = str(INCLUDE)
        self.addCleanup(os.environ.pop, "CPATH")
        run = self.failing(ROUNDS)
        reduced = self.json("reduce", run)
        kept = [entry for entry in reduced["account"]
                if "iterations" in entry and not entry["removed"]]
        self.assertLessEqual(len(kept), 2, reduced["account"])
        self.assertEqual(reduced["after"]["preemptions"], 1)
        self.assertTrue(self.json("replay", "-n", 3, reduced["run"])["reproduced"])
        # The annotation costs nothing without Heddle.
        native = self.work / "native"
        subprocess.run(["gcc", "-I", INCLUDE, "-Wall", "-Wextra", "-Werror", "-pthread",
                        self.work / "prog.c", "-o", native], check=True)

    def test_iterations_of_loops_that_nobody_has_annotated(self):
        run = self.failing(LATE_ROUND)
        reduced = self.json("reduce", run)
        loop = next(number for number, line in enumerate(LATE_ROUND.splitlines(), 1)
                    if "for (int i" in line)
        gone = [entry for entry in reduced["account"] if "iterations" in entry]
        self.assertTrue(all(entry["removed"] and entry["line"] == loop for entry in gone), gone)
        self.assertGreaterEqual(sum(len(entry["iterations"]) for entry in gone), 6)
        self.assertLess(reduced["after"]["events"], reduced["before"]["events"] / 2)
        self.assertEqual(reduced["after"]["preemptions"], 1)
        self.assertGreater(sum(reduced["parts"][part]["events_removed"]
                               for part in ("guess", "iterations")), 0)
        self.assertTrue(self.json("replay", "-n", 3, reduced["run"])["reproduced"])
        self.assertEqual(self.json("locate", reduced["run"])["outcome"], "confirmed")

    def test_a_late_failure_of_a_long_run_becomes_a_short_run(self):
        program = self.build(LATE_ROUND.replace("for (int i = 0; i < rounds",
                                                "const int n = rounds; for (int i = 0; i < n"))
        run = self.json("explore", "--strategy", "pct", "--", program, 300, status=1)["run"]
        reduced = self.json("reduce", run)
        before, after = reduced["before"], reduced["after"]
        self.assertGreater(before["events"], 500)
        self.assertLess(after["events"], before["events"] / 20)
        self.assertEqual(after["preemptions"], 1)
        self.assertLessEqual(reduced["trials"], 60)
        self.assertEqual(reduced["events_executed"], before["events"] + sum(
            reduced["parts"][part]["events_executed"]
            for part in ("guess", "threads", "iterations", "other_schedules", "switches", "slice")))

    def test_a_stress_test_costs_little_more_than_itself(self):
        program = self.build(BUGS / "stress_driver" / "buggy.c")
        run = self.json("explore", "--strategy", "pct", "--", program, 33, 20, status=1)["run"]
        reduced = self.json("reduce", run)
        self.assertEqual(reduced["after"]["threads"], 3)
        self.assertEqual(reduced["after"]["preemptions"], 1)
        self.assertGreater(reduced["before"]["events"], 1000)
        self.assertLessEqual(reduced["events_executed"], 4 * reduced["before"]["events"])
        self.assertLessEqual(reduced["after"]["events"], reduced["before"]["events"] / 95)
        # Threads whose creation went with an iteration are not said to be there.
        kept = [entry["thread"] for entry in reduced["account"]
                if not entry["removed"] and "iterations" not in entry]
        self.assertEqual(len(kept), 2, kept)
        # What the run did not come to is not part of the smaller program either.
        schedule = self.heddle("show", "--schedule", reduced["run"]).stdout
        self.assertIn("#4294967295", schedule)
        # Nor is the creation of threads that went before one that stays: it keeps its name.
        self.assertIn(" creates 1", schedule)
        self.assertNotIn("absent", schedule)
        self.assertTrue(self.json("replay", "-n", 3, reduced["run"])["reproduced"])

    def long_beginning(self, before):
        run = self.failing(LONG_BEGINNING.replace("BEFORE", before))
        reduced = self.json("reduce", run)
        self.assertGreater(reduced["after"]["events"], 1200)
        self.assertEqual(reduced["after"]["threads"], 3)
        self.assertEqual(reduced["after"]["preemptions"], 1)
        self.assertTrue(reduced["fewest_preemptions"])
        self.assertTrue(self.json("replay", "-n", 3, reduced["run"])["reproduced"])
        return reduced

    def test_what_trials_have_in_common_is_executed_once(self):
        reduced = self.long_beginning("")
        self.assertGreater(reduced["trials"], 8)
        self.assertLessEqual(reduced["events_executed"], 4 * reduced["before"]["events"])

    def test_what_is_outside_of_memory_is_done_again_in_each_trial(self):
        self.long_beginning('puts("begins"); fflush(stdout);')
        self.assertEqual(self.heddle("show", "--output").stdout.count("begins"), 1)
        self.long_beginning('FILE* f = fopen("prog.c", "r"); if (fgetc(f) != 10) return 0;')

    def test_a_barrier_is_not_starved(self):
        run = self.failing(BARRIER)
        reduced = self.json("reduce", run)
        self.assertEqual(reduced["after"]["threads"], 4)
        self.assertTrue(all("another failure" in entry["why"] for entry in reduced["account"]),
                        reduced["account"])

    def test_a_program_that_fails_sequentially(self):
        run = self.failing(ALWAYS)
        reduced = self.json("reduce", run)
        self.assertFalse(reduced["sequential_passes"])
        self.assertEqual(reduced["after"]["preemptions"], 0)
        # Without anybody to make it, another bug: what is asked for is never made.
        self.assertTrue(reduced["prompt_passes"])
        self.assertEqual(reduced["after"]["threads"], 2)
        self.assertIn("as soon as it is created", self.heddle("reduce", run).stdout)

    def test_a_program_that_fails_in_every_order_of_whole_threads(self):
        for source, needed in ((TURNS, 2), (DELIVERED, 3)):
            run = self.failing(source)
            reduced = self.json("reduce", run)
            self.assertFalse(reduced["sequential_passes"] or reduced["prompt_passes"])
            # Without anybody to make it, another bug, as by chance somebody does.
            self.assertTrue(reduced["chance_passes"])
            self.assertEqual(reduced["after"]["threads"], needed)
            self.assertIn("random schedules", self.heddle("reduce", run).stdout)

    def test_workers_without_whom_nothing_is_delivered_are_never_left_out(self):
        run = self.failing(SUM)
        reduced = self.json("reduce", run)
        self.assertTrue(reduced["sequential_passes"])
        self.assertEqual(reduced["after"]["threads"], 4)
        self.assertTrue(all("its work is missing" in entry["why"] for entry in reduced["account"]),
                        reduced["account"])

    def test_a_program_that_fails_in_every_schedule(self):
        run = self.failing(TURNS.replace("assert(made)", "assert(made > 1)"))
        reduced = self.json("reduce", run)
        self.assertFalse(reduced["sequential_passes"] or reduced["prompt_passes"] or
                         reduced["chance_passes"])
        self.assertEqual(reduced["after"]["threads"], 1)
        self.assertIn("could not be asked", self.heddle("reduce", run).stdout)

    def test_what_the_failure_does_not_depend_on_is_not_seen(self):
        run = self.failing(UNRELATED)
        reduced = self.json("reduce", run)
        self.assertEqual(reduced["overlooking"], "done")
        lines = UNRELATED.splitlines()
        unseen = {lines[entry["line"] - 1].strip() for entry in reduced["overlooked"]}
        self.assertIn("++count;", unseen)
        self.assertLessEqual(unseen, {"++count;", "total += i;"})
        self.assertEqual(sum(entry["accesses"] for entry in reduced["overlooked"]),
                         reduced["parts"]["slice"]["events_removed"])
        events = self.heddle("show", "--events", reduced["run"]).stdout
        self.assertIn(" busy ", events)
        for unrelated in (" count ", " total "):
            self.assertNotIn(unrelated, events)
        self.assertIn("\noverlook ", self.heddle("show", "--schedule", reduced["run"]).stdout)
        self.assertIn("are not seen", self.heddle("show", reduced["run"]).stdout)
        self.assertNotIn("are not seen", self.heddle("show", run).stdout)
        # It is a run like any other.
        for carrier in ("fiber", "kernel"):
            self.assertTrue(self.json("replay", "-n", 3, "--carrier", carrier,
                                      reduced["run"])["reproduced"])
        located = self.json("locate", reduced["run"])
        self.assertEqual(located["outcome"], "confirmed")
        self.heddle("pack", reduced["run"], "-o", "reduced.pack")
        self.assertTrue(self.json("replay", "reduced.pack")["reproduced"])
        again = self.json("reduce", reduced["run"])
        self.assertEqual(again["after"]["events"], reduced["after"]["events"])
        self.assertIn("accesses at", self.heddle("reduce", run).stdout)

    def test_freed_memory_is_still_noticed(self):
        run = self.failing(BUGS / "queue_teardown" / "buggy.cpp", compiler="heddle-c++")
        reduced = self.json("reduce", run)
        self.assertEqual(reduced["outcome"], "use-after-free")
        self.assertEqual(reduced["overlooking"], "done")
        self.assertTrue(self.json("replay", "-n", 3, reduced["run"])["reproduced"])

    def test_where_everything_has_to_be_seen(self):
        run = self.failing(UNRELATED, "--memory-model", "tso")
        self.assertEqual(self.json("reduce", run)["overlooking"], "delayed-stores")
        run = self.failing(UNRELATED.replace("assert(busy == 0)", "if (busy != 0) exit(7)")
                           .replace("<assert.h>", "<stdlib.h>"))
        self.assertEqual(self.json("reduce", run)["overlooking"], "no-slice")
        self.assertIn("every access", self.heddle("reduce", run).stdout)

    def test_a_time_limit_keeps_the_best_so_far(self):
        run = self.failing(BUGS / "queue_teardown" / "buggy.cpp", compiler="heddle-c++")
        reduced = self.json("reduce", "--time", "0.000001", run)
        self.assertTrue(reduced["stopped"])
        self.assertEqual(reduced["after"]["threads"], reduced["before"]["threads"])
        self.assertTrue(self.json("replay", reduced["run"])["reproduced"])

    def test_interrupt_keeps_the_best_so_far(self):
        program = self.build(BUGS / "thread_list" / "buggy.c")
        run = self.json("explore", "--", program, "200", status=1)["run"]
        process = subprocess.Popen([TOOLS / "heddle", "reduce", "--json", run], cwd=self.work,
                                   stdout=subprocess.PIPE, text=True)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        reduced = json.loads(process.communicate()[0])
        self.assertEqual(process.returncode, 0)
        self.assertTrue(self.json("replay", reduced["run"])["reproduced"])

    def test_runs_that_cannot_be_reduced(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        self.refused("reduce", "latest", says=("heddle explore",))
        passing = self.json("run", "--strategy", "sequential", "--", program)["run"]
        self.refused("reduce", passing, says=("did not fail",))
        run = self.json("explore", "--", program, status=1)["run"]
        self.refused("reduce", "r99", says=("r99",))
        self.refused("reduce", "--time", "-1", run, says=("--time",))
        # Another build without the bug: its failure does not come back.
        self.build(BUGS / "lost_update" / "fixed.c")
        message = self.refused("reduce", run)
        self.assertIn("built again", message)


if __name__ == "__main__":
    unittest.main()
