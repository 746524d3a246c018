# SPDX-License-Identifier: Apache-2.0
"""`--audit` notices where the sharing analysis is wrong, and changes nothing else. The analysis does
not follow pointers through products (docs/decisions/0012): that is how it is made to err here."""

import re
import unittest

import workshop

# Hides an address from the analysis, and brings it back.
HIDING = """
#include <pthread.h>
#include <stdint.h>
static volatile uint64_t three = 3;
static uint64_t hidden(void* place) { return (uint64_t)place * three; }
static int* found(uint64_t number) { return (int*)(number / three); }
"""
SECOND_THREAD = HIDING + """
static uint64_t told;
static void* other(void* unused) {
  (void)unused;
  *found(told) += 1;
  return 0;
}
int main(void) {
  int local[2] = {1, 2};
  for (int i = 0; i < 2; ++i) local[i] += (int)three;
  told = hidden(local);
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  pthread_join(thread, 0);
  return local[three == 3 ? 0 : 1] == 5 ? 0 : 1;
}
"""
WRITTEN = HIDING + """
static int never_written[2] = {4, 5};
int main(void) {
  int seen = never_written[three - 3];
  *found(hidden(never_written)) = 6;
  return seen + never_written[three - 3] == 10 ? 0 : 1;
}
"""
# One thread, but it would not see its own store while that is in the store buffer.
HALF_HOOKED = HIDING + """
int main(void) {
  int local[2] = {1, 2};
  *found(hidden(local)) = 7;
  return local[three - 3] == 7 ? 0 : 1;
}
"""
# Memory that is local now and shared a moment later, and the other way round.
REUSED = """
#include <pthread.h>
#include <stdlib.h>
static volatile int one = 1;
static __attribute__((noinline)) int alone(void) {
  int numbers[8];
  for (int i = 0; i < 8; ++i) numbers[i] = i * one;
  return numbers[one];
}
static void* other(void* number) {
  alone();
  ++*(int*)number;
  free(malloc(40));
  return number;
}
static __attribute__((noinline)) int together(void) {
  int numbers[8] = {0};
  pthread_t thread;
  pthread_create(&thread, 0, other, &numbers[one]);
  pthread_join(thread, 0);
  return numbers[one];
}
int main(void) {
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    sum += alone() + together();
    int* heap = malloc(8 * sizeof *heap);
    for (int k = 0; k < 8; ++k) heap[k] = k * one;
    sum += heap[one];
    free(heap);
    pthread_t thread;
    int* shared = calloc(8, sizeof *shared);
    pthread_create(&thread, 0, other, shared);
    pthread_join(thread, 0);
    sum += *shared;
    free(shared);
  }
  return sum == 12 ? 0 : 1;
}
"""


class Audit(workshop.Workshop):
    def is_wrong(self, source, *says):
        program = self.build(source)
        self.heddle("run", "--", program)
        message = self.refused("run", "--audit", "--", program, status=4,
                               says=("the sharing analysis is wrong", "heddle show --sites", *says))
        self.refused("explore", "--audit", "-n", 3, "--", program, status=4, says=says)
        return message

    def line(self, source, text):
        return 1 + source[:source.index(text)].count("\n")

    def test_a_second_thread(self):
        source = SECOND_THREAD
        self.is_wrong(source, f"prog.c:{self.line(source, '*found(told)')} (other) by t0.1",
                      "(main) by t0, local-stack")

    def test_a_write(self):
        self.is_wrong(WRITTEN, f"prog.c:{self.line(WRITTEN, '*found(')} (main) by t0",
                      "never-written")

    def test_hooked_here_and_not_there(self):
        self.is_wrong(HALF_HOOKED, "local-stack", "shared")

    def test_used_again(self):
        program = self.build(REUSED)
        for model in ("sc", "tso"):
            result = self.json("explore", "--audit", "-n", 30, "--memory-model", model, "--",
                               program)
            self.assertEqual(result["schedules"], 30)

    def test_changes_nothing(self):
        """Same events for the same seed, with and without."""
        program = self.build(workshop.BUGS / "lost_update" / "buggy.c")
        traces = []
        for flags in ((), ("--audit",)):
            run = self.json("run", "--seed", 7, *flags, "--", program)["run"]
            trace = self.heddle("show", "--events", run).stdout
            traces.append(re.sub(r"(stack t[0-9.]*)[+-]\d+", r"\1", trace))  # frames differ
        self.assertEqual(*traces)

    def test_needs_verdicts(self):
        program = self.build("int main(void) { return 0; }", compiler="clang-19")
        self.refused("run", "--audit", "--", program, says=("was not built with heddle-cc",))


if __name__ == "__main__":
    unittest.main()
