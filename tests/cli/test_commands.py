# SPDX-License-Identifier: Apache-2.0
import json
import os
import stat
import subprocess
import unittest

from workshop import BUGS, TOOLS, Workshop

PRINTS = """
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
static int shared;
static void* add(void* p) { shared = shared * 2 + (int)(long)p; return p; }
int main(int argc, char** argv) {
  pthread_t a, b;
  int c = getchar();
  pthread_create(&a, 0, add, (void*)1);
  pthread_create(&b, 0, add, (void*)2);
  pthread_join(a, 0);
  pthread_join(b, 0);
  printf("%d %d %s %s\\n", shared, c, argc > 1 ? argv[1] : "-", getenv("NOTE") ? getenv("NOTE") : "-");
  return argc > 2 ? atoi(argv[2]) : 0;
}
"""


class Explore(Workshop):
    def test_json_has_the_fixed_fields(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        found = self.json("explore", "--", program, status=1)
        self.assertEqual(found["command"], "explore")
        self.assertEqual(found["outcome"], "failure")
        self.assertEqual(found["run"], "r1")
        self.assertGreater(found["seconds"], 0)
        self.assertGreaterEqual(found["schedules"], found["schedules_to_first_failure"])
        failure = found["failures"][0]
        self.assertEqual(failure["run"], "r1")
        self.assertEqual(failure["signature"]["kind"], "assert")
        self.assertEqual(failure["signature"]["file"], "buggy.c")
        self.assertEqual(failure["signature"]["function"], "main")
        self.assertGreater(failure["signature"]["line"], 0)

    def test_same_seed_same_search(self):
        program = self.build(BUGS / "cache_eviction" / "buggy.cpp", compiler="heddle-c++")
        # A portfolio learns from what its workers finish first; a single strategy does not.
        for strategy, workers in (("random", (1, 1, 2)), ("portfolio", (1, 1))):
            numbers = {self.json("explore", "--strategy", strategy, "--seed", "5", "-j", count,
                                 "--", program, status=1)["schedules_to_first_failure"]
                       for count in workers}
            self.assertEqual(len(numbers), 1, (strategy, numbers))

    def test_all_keeps_one_run_of_each_signature(self):
        program = self.build(BUGS / "refcount_uaf" / "buggy.c")
        found = self.json("explore", "--all", "-n", "400", "--", program, status=1)
        kinds = {failure["signature"]["text"] for failure in found["failures"]}
        self.assertEqual(found["schedules"], 400)
        self.assertEqual(len(kinds), len(found["failures"]))
        self.assertEqual({"use-after-free", "double-free"},
                         {failure["signature"]["kind"] for failure in found["failures"]})

    def test_chess_says_which_bound_is_exhausted(self):
        program = self.build(BUGS / "lost_update" / "fixed.c")
        found = self.json("explore", "--strategy", "chess", "--max-preemptions", "1", "-n", "0",
                          "--", program)
        self.assertEqual(found["exhausted_bound"], 1)
        self.assertEqual(found["outcome"], "none")
        self.assertIsNone(found["schedules_to_first_failure"])

    def test_a_thread_can_be_left_out(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        found = self.json("explore", "--without", "t0.1", "-n", "20", "--", program, status=1)
        events = self.heddle("show", found["run"], "--events").stdout
        self.assertNotIn("thread_start", events)
        self.assertTrue(self.json("replay", found["run"])["reproduced"])

    def test_fails_if_finds_wrong_results(self):
        program = self.build(PRINTS)
        found = self.json("explore", "--fails-if", "grep -q '^5 ' $HEDDLE_STDOUT", "--", program,
                          status=1)
        self.assertEqual(found["failures"][0]["signature"]["kind"], "predicate")
        self.assertTrue(self.json("replay", found["run"], "-n", "5")["reproduced"])

    def test_a_program_not_built_with_heddle_is_explored_at_its_locks(self):
        program = self.build(BUGS / "lock_order_deadlock" / "buggy.c", compiler="clang-19")
        found = self.json("explore", "--", program, status=1)
        self.assertEqual(found["failures"][0]["signature"]["kind"], "deadlock")
        self.assertTrue(self.json("replay", found["run"])["reproduced"])


class Run(Workshop):
    def test_arguments_environment_and_input_reach_the_program(self):
        program = self.build(PRINTS)
        (self.work / "input").write_text("A")
        result = self.heddle("run", "--stdin", "input", "--strategy", "sequential", "--", program,
                             "--x", environment={"NOTE": "hello"})
        self.assertIn("4 65 --x hello", result.stdout)

    def test_nonzero_exit_is_a_failure(self):
        program = self.build(PRINTS)
        found = self.json("run", "--", program, "x", "7", status=1)
        self.assertEqual(found["outcome"], "exit")
        self.assertEqual(found["exit_code"], 7)

    def test_options_from_the_environment_and_flags_over_them(self):
        program = self.build(PRINTS)
        schedule = []
        for environment, flags in (({"HEDDLE_OPTIONS": "seed=42"}, []), ({}, ["--seed", "42"]),
                                   ({"HEDDLE_OPTIONS": "seed=7"}, ["--seed", "42"])):
            run = self.json("run", *flags, "--", program, environment=environment)["run"]
            schedule.append(self.heddle("show", run, "--schedule").stdout)
        self.assertEqual(len(set(schedule)), 1)

    def test_a_schedule_file_is_followed(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        run = self.json("explore", "--", program, status=1)["run"]
        (self.work / "kept").write_text(self.heddle("show", run, "--schedule").stdout)
        found = self.json("run", "--schedule", "kept", "--", program, status=1)
        self.assertEqual(found["outcome"], "assert")


class Replay(Workshop):
    def test_byte_identical_many_times(self):
        program = self.build(BUGS / "pool_shutdown" / "buggy.cpp", compiler="heddle-c++")
        self.json("explore", "--", program, status=1)
        again = self.json("replay", "latest", "-n", "200")
        self.assertEqual((again["identical"], again["replays"]), (200, 200))

    def test_the_recorded_inputs_are_used_again(self):
        program = self.build(PRINTS)
        (self.work / "input").write_text("A")
        run = self.json("run", "--stdin", "input", "--", program, "--x",
                        environment={"NOTE": "then"})["run"]
        (self.work / "input").unlink()
        self.assertTrue(self.json("replay", run, environment={"NOTE": "now"})["reproduced"])

    def test_a_changed_run_does_not_count_as_reproduced(self):
        program = self.build(PRINTS)
        run = self.json("run", "--", program)["run"]
        output = self.work / ".heddle" / "runs" / run / "stdout"
        output.write_text("something else\n")
        again = self.json("replay", run, status=1)
        self.assertFalse(again["reproduced"])
        self.assertIn("standard output", again["difference"])

    def test_a_rebuild_that_keeps_the_places_still_replays(self):
        source = BUGS / "lost_update" / "buggy.c"
        program = self.build(source)
        self.json("explore", "--", program, status=1)
        moved = self.work / "buggy.c"
        moved.write_text("\n\n/* moved down */\nint unused = 3;\n" + source.read_text())
        self.build(moved)
        again = self.json("replay", "latest", status=1)  # lines differ: not byte-identical
        self.assertFalse(again["same_build"])
        self.assertNotIn("could not be followed", again["difference"])


class Runs(Workshop):
    def test_list_show_remove(self):
        program = self.build(PRINTS)
        first = self.json("run", "--", program)["run"]
        second = self.json("run", "--seed", "9", "--", program)["run"]
        self.assertEqual([run["run"] for run in self.json("ls")["runs"]], [first, second])
        self.assertEqual(self.json("show")["run"], second)
        self.assertEqual(self.json("rm", first)["removed"], [first])
        self.assertEqual([run["run"] for run in self.json("ls")["runs"]], [second])


class BadInput(Workshop):
    def test_programs_that_cannot_be_run(self):
        self.refused("explore", "--", "./none", says=["./none"])
        self.refused("explore", "--", "no-such-program-anywhere", says=["PATH"])
        (self.work / "text").write_text("hello")
        self.refused("explore", "--", "./text", says=["./text"])
        (self.work / "script").write_text("#!/bin/sh\n")
        os.chmod(self.work / "script", stat.S_IRWXU)
        self.refused("explore", "--", "./script", says=["script"])

    def test_flags_that_make_no_sense(self):
        program = self.build(PRINTS)
        self.refused("explore", says=["program"])
        self.refused("explore", "--strategy", "magic", "--", program, says=["magic", "random"])
        self.refused("explore", "--memory-model", "alpha", "--", program, says=["alpha", "sc"])
        self.refused("explore", "--carrier", "pigeon", "--", program, says=["pigeon", "fiber"])
        self.refused("explore", "-j", "0", "--", program)
        self.refused("explore", "--max-events", "0", "--", program)
        self.refused("run", "--stdin", "none", "--", program, says=["none"])
        self.refused("run", "--", program, environment={"HEDDLE_OPTIONS": "sed=1"}, says=["sed=1"])
        self.refused("nonsense")
        self.assertFalse((self.work / ".heddle").exists(), "a mistake must leave nothing behind")

    def test_runs_that_are_not_there(self):
        self.refused("ls", says=["heddle explore"])
        self.refused("replay", "missing.heddle", says=["missing.heddle", "no such file"])
        (self.work / "other.heddle").write_text("something else")
        self.refused("replay", "other.heddle", says=["other.heddle", "no packed run"])
        program = self.build(PRINTS)
        self.json("run", "--", program)
        self.refused("replay", "r9", says=["r9"])
        self.refused("rm", "r9", says=["r9"])
        self.assertEqual(len(self.json("ls")["runs"]), 1)

    def test_damaged_schedules_and_traces(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        run = self.json("explore", "--", program, status=1)["run"]
        directory = self.work / ".heddle" / "runs" / run
        schedule = (directory / "schedule").read_text()
        for damaged in ("", schedule[:-20], schedule.replace("heddle-schedule 1", "heddle-schedule 99"),
                        schedule.replace("switch", "swatch", 1)):
            (directory / "schedule").write_text(damaged)
            self.refused("replay", run, says=["schedule"])
        (directory / "schedule").write_text(schedule.replace("record_hit+2.store.", "gone+2.store."))
        self.refused("replay", run, says=["gone+2.store."])
        (directory / "schedule").write_text(schedule)
        trace = bytearray((directory / "trace").read_bytes())
        trace[len(trace) // 2] ^= 0xFF
        (directory / "trace").write_bytes(trace)
        self.refused("replay", run, says=["trace"])

    def test_a_schedule_that_cannot_be_followed_is_a_divergence(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        run = self.json("explore", "--", program, status=1)["run"]
        path = self.work / ".heddle" / "runs" / run / "schedule"
        path.write_text(path.read_text().replace("-> t0.1", "-> t0.7"))
        again = self.json("replay", run, status=1)
        self.assertIn("could not be followed", again["difference"])

    def test_errors_as_json(self):
        error = json.loads(self.heddle("replay", "--json", "r1", status=2).stdout)
        self.assertEqual(error["exit_code"], 2)
        self.assertIn("heddle", error["error"])

    def test_a_program_that_stands_still_is_reported_as_hanging(self):
        program = self.build('int main(void) { for (;;) __asm__ volatile(""); }')
        found = self.json("run", "--timeout", "0.5", "--", program, status=1)
        self.assertEqual(found["outcome"], "hang")

    def test_a_long_execution_that_goes_on_is_not_hanging(self):
        program = self.build("""
#include <stdlib.h>
volatile int shared;
int main(void) {
  for (int i = 0; i < 4; ++i) { ++shared; if (system("sleep 0.4") != 0) return 1; }
  return 0;
}""")
        found = self.json("run", "--timeout", "1.2", "--", program)
        self.assertEqual(found["outcome"], "none")

    def test_a_full_variant_started_by_hand_takes_its_bound_of_events(self):
        source = self.work / "adds.c"
        source.write_text("int x; int main(void) { while (__atomic_add_fetch(&x, 1, 5) < 2200000) {} }")
        subprocess.run([TOOLS / "heddle-cc", "-O1", source, "-o", self.work / "adds"],
                       check=True, env=os.environ | {"HEDDLE_VARIANT": "full"})
        for bound, status in (("3000000", 0), ("1000", 125)):
            ended = subprocess.run([self.work / "adds"], stderr=subprocess.DEVNULL,
                                   env=os.environ | {"HEDDLE_OPTIONS": f"max_events={bound}"})
            self.assertEqual(ended.returncode, status)

    def test_what_is_overwritten_is_no_part_of_a_run(self):
        program = self.build("""
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
char area[64];
int main(int count, char** words) {
  if (read(open("/dev/urandom", O_RDONLY), area, sizeof area) != sizeof area) return 1;
  memset(area, count, 63 + count);
  return words == 0;
}""")
        run = self.json("run", "--", program)["run"]
        self.assertTrue(self.json("replay", run)["reproduced"])

    def test_a_program_that_makes_no_progress_is_stopped(self):
        program = self.build("int x; int main(void) { for (;;) __atomic_add_fetch(&x, 1, 5); }")
        found = self.json("run", "--max-events", "5000", "--", program, status=1)
        self.assertEqual(found["outcome"], "no-progress")


if __name__ == "__main__":
    unittest.main()
