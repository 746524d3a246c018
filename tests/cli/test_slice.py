# SPDX-License-Identifier: Apache-2.0
"""Slices over instructions: what is executed counts, not what the code might do."""

import unittest

from test_reduce import UNRELATED
from workshop import BUGS, Workshop

# Each function hands on one thing in its own way, and computes another that nobody uses.
WAYS = """
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int input[4] = {1, 2, 3, 4};
static int unrelated;
static int compare(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;  // compares
}
static __attribute__((noinline)) int by_outside(int x) {
  int sorted[3] = {x, 7, 5};  // outside
  qsort(sorted, 3, sizeof *sorted, compare);
  return sorted[0];
}
static __attribute__((noinline)) int by_variable_arguments(int count, ...) {
  va_list list;
  va_start(list, count);
  int sum = 0;
  while (count-- > 0) sum += va_arg(list, int);
  va_end(list);
  return sum;
}
struct large { int values[20]; };
static __attribute__((noinline)) int by_copy(struct large it) { return it.values[3]; }
static jmp_buf place;
static __attribute__((noinline)) void jump(int x) {
  longjmp(place, x);  // jumps
}
static __attribute__((noinline)) int by_jump(int x) {
  volatile int first = x;
  int landed = setjmp(place);
  if (landed == 0) jump(first);
  return landed;
}
static int result;
static void* work(void* p) {
  for (int i = 0; i < 20; ++i) unrelated += i;  // unrelated
  result = *(int*)p;
  return p;
}
int main(int argc, char** argv) {
  int way = atoi(argv[1]);
  int last = 0;
  int x = 0;
  for (int i = 0; i < 4; ++i) {
    last = __atomic_load_n(&input[i], __ATOMIC_RELAXED);  // input
  }
  if (way == 0) x = by_outside(last);
  if (way == 1) x = by_variable_arguments(2, 0, last);  // variable
  if (way == 2) {
    struct large it;
    memset(&it, 0, sizeof it);
    it.values[3] = last;  // copied
    x = by_copy(it);
  }
  if (way == 3) x = by_jump(last);
  pthread_t thread;
  pthread_create(&thread, 0, work, &x);
  pthread_join(thread, 0);
  assert(result != 4);
  return argc;
}
"""

EXCEPTION = """
#include <cassert>
#include <thread>
static int input = 3, unrelated = 1;
static void __attribute__((noinline)) deep(int x) {
  if (x > 2) throw x;  // throws
  unrelated = 2;
}
static int __attribute__((noinline)) caught(int x) {
  try {
    deep(x);
  } catch (int y) {
    return y;
  }
  return 0;
}
int main() {
  int result = 0;
  std::thread thread([&] { result = caught(__atomic_load_n(&input, __ATOMIC_RELAXED)); });  // input
  thread.join();
  assert(result == 0);
}
"""

# Much is computed between two events.
COMPUTES = """
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static int limit, shared, unrelated;
static unsigned compute(unsigned rounds, unsigned x) {
  unsigned table[64] = {0};
  for (unsigned i = 0; i < rounds; ++i) {
    x = x * 1664525u + 1013904223u;
    table[x % 64] += x >> 8;
  }
  return table[3];
}
static void* work(void* p) {
  unrelated += compute(*(int*)p, 1) & 1;
  int seen = shared;
  shared = seen + 1;
  return 0;
}
int main(int argc, char** argv) {
  limit = argc > 1 ? atoi(argv[1]) : 10;
  pthread_t a, b;
  pthread_create(&a, 0, work, &limit);
  pthread_create(&b, 0, work, &limit);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(shared == 2);
  return 0;
}
"""

READS_FILE = """
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static volatile int rounds, shared;
static void* work(void* p) {
  for (int i = 0; i < rounds; ++i) shared = shared + 1;
  return p;
}
int main(void) {
  FILE* file = fopen("rounds", "r");
  if (file == NULL || fscanf(file, "%d", (int*)&rounds) != 1) return 0;
  fclose(file);
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(shared == 2 * rounds);
  return 0;
}
"""


def line_of(source, mark):
    return next(number for number, line in enumerate(source.splitlines(), 1)
                if line.endswith(f"// {mark}"))


class InstructionSlices(Workshop):
    def lines(self, sliced):
        return {line for entry in sliced["lines"] for line in entry["lines"]}

    def failing(self, *command):
        return self.json("explore", "--", *command, status=1)["run"]

    def sliced(self, run, *flags):
        sliced = self.json("slice", run, *flags)
        self.assertEqual(sliced["within_threads"], "instructions", sliced)
        by_code = self.json("slice", "--static", run)
        self.assertEqual(by_code["within_threads"], "code")
        self.assertTrue(set(sliced["slice"]) <= set(by_code["slice"]))
        return sliced

    def test_every_way_a_value_can_take(self):
        program = self.build(WAYS)
        marks = (("outside", "compares"), ("variable",), ("copied",), ("jumps",))
        for way, needed in enumerate(marks):
            with self.subTest(way=way):
                sliced = self.sliced(self.failing(program, way))
                lines = self.lines(sliced)
                for mark in (*needed, "input"):
                    self.assertIn(line_of(WAYS, mark), lines, (mark, sorted(lines)))
                self.assertNotIn(line_of(WAYS, "unrelated"), lines)

    def test_where_an_exception_came_from(self):
        (self.work / "prog.cpp").write_text(EXCEPTION)
        program = self.build(self.work / "prog.cpp", compiler="heddle-c++")
        lines = self.lines(self.sliced(self.failing(program)))
        for mark in ("throws", "input"):
            self.assertIn(line_of(EXCEPTION, mark), lines, sorted(lines))

    def test_it_takes_at_most_two_bytes_an_instruction(self):
        run = self.failing(self.build(COMPUTES), 1000)
        sliced = self.sliced(run)
        self.assertGreater(sliced["instructions_executed"], 10000)
        self.assertLess(sliced["trace_bytes"], 2 * sliced["instructions_executed"])
        self.assertLess(sliced["executed_in_slice"], 100)
        self.assertEqual(sliced["from_event"], 0)

    def test_a_window(self):
        run = self.failing(self.build(COMPUTES), 10)
        whole = self.sliced(run)
        for events in (1, 5, 10, 1000):
            with self.subTest(events=events):
                window = self.sliced(run, "--window", events)
                self.assertEqual(window["from_event"], max(0, whole["events"] - events))
                self.assertTrue(set(whole["slice"]) <= set(window["slice"]))

    def test_a_run_that_is_too_long_is_followed_at_its_end(self):
        run = self.failing(self.build(COMPUTES), 2000000)
        sliced = self.sliced(run)
        self.assertGreater(sliced["from_event"], 0)
        self.assertIn(f"from event {sliced['from_event']} on", self.heddle("slice", run).stdout)

    def test_without_replay_the_code_tells(self):
        program = self.build(READS_FILE)
        rounds = self.work / "rounds"
        rounds.write_text("1")
        run = self.failing(program)
        self.refused("slice", "--static", "--whole-threads", run, says=("one of them",))
        by_code = self.json("slice", "--static", run)
        self.assertNotIn("why_not_more", self.sliced(run))
        rounds.write_text("3")  # it takes another course now
        sliced = self.json("slice", run)
        self.assertEqual(sliced["within_threads"], "code")
        self.assertIn("another course", sliced["why_not_more"])
        self.assertEqual(sliced["slice"], by_code["slice"])
        self.assertIn("another course", self.heddle("slice", run).stdout)


class Shown(Workshop):
    def test_what_the_failure_has_nothing_to_do_with_is_hidden(self):
        program = self.build(COMPUTES)
        run = self.json("explore", "--", program, status=1)["run"]
        self.assertIn("unrelated", self.heddle("show", run).stdout)  # nobody has asked yet
        sliced = self.json("slice", run)
        hidden = sliced["events"] - len(sliced["slice"]) - len(sliced["same_memory"])
        self.assertGreater(hidden, 0)
        text = self.heddle("show", run).stdout
        self.assertNotIn("unrelated", text)
        self.assertIn(f"{hidden} events", text)
        self.assertIn("unrelated", self.heddle("show", "--all-events", run).stdout)
        reduced = self.json("reduce", run)
        # What the code alone tells to be of no use is not even seen any more.
        unseen = sum(entry["accesses"] for entry in reduced["overlooked"])
        self.assertGreater(reduced["hidden_events"] + unseen, 0)
        text = self.heddle("show", reduced["run"]).stdout
        self.assertNotIn("unrelated", text)

    def test_a_damaged_slice_is_as_good_as_none(self):
        run = self.json("explore", "--", self.build(COMPUTES), status=1)["run"]
        self.json("slice", run)
        (self.work / ".heddle" / "runs" / run / "slice").write_text("slice 5\n2 9\n")
        self.assertIn("unrelated", self.heddle("show", run).stdout)


class Slice(Workshop):
    def test_slice_of_the_failing_event(self):
        program = self.build(BUGS / "pool_shutdown" / "buggy.cpp", compiler="heddle-c++")
        run = self.json("explore", "--", program, status=1)["run"]
        sliced = self.json("slice", run)
        self.assertEqual(sliced["run"], run)
        self.assertIn(sliced["at"], sliced["slice"])
        self.assertEqual(len(sliced["slice"]), sliced["events_in_slice"])
        first = self.json("slice", run, "--at", 0)
        self.assertEqual(first["slice"], [0])
        self.refused("slice", run, "--at", 100000, says=("no event 100000",))

    def test_within_a_thread_only_what_the_code_depends_on(self):
        program = self.build(UNRELATED)
        run = self.json("explore", "--", program, status=1)["run"]
        sliced = self.json("slice", run)
        self.assertEqual(sliced["within_threads"], "instructions")
        self.assertLess(sliced["instructions_in_slice"], sliced["instructions"])
        text = self.heddle("slice", run).stdout
        for needed in ("busy", "limit"):
            self.assertIn(f" {needed} ", text)
        for unrelated in ("count", "total"):
            self.assertNotIn(f" {unrelated} ", text)
        whole = self.json("slice", "--whole-threads", run)
        self.assertGreater(whole["events_in_slice"], sliced["events_in_slice"])
        self.assertTrue(set(sliced["slice"]) <= set(whole["slice"]))
        # Without the program that was run, the trace alone tells.
        self.build(BUGS / "lost_update" / "buggy.c")
        self.assertEqual(self.json("slice", run)["slice"], whole["slice"])


if __name__ == "__main__":
    unittest.main()
