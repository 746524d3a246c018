# SPDX-License-Identifier: Apache-2.0
"""How recorded runs end: where memory was used that had been given back, and where several threads
fail at the same moment. Which thread comes first only time decides, and time is the machine's: every
recording has to come back, whichever it was, and another one is made until it was the one wanted."""

import json
import re

from workshop import Workshop

# A sleep that is no operation: nobody can see it. How long is in a constant: a variable that assembly is
# given is written by a store that others could see, and a thread may be stopped at.
SLEEP = """
#include <sys/syscall.h>
#include <time.h>
#define sleep_unseen(milliseconds)                                                           \\
  do {                                                                                       \\
    static const struct timespec moment = {0, (milliseconds) * 1000000L};                    \\
    long number = SYS_nanosleep;                                                             \\
    __asm__ volatile("syscall" : "+a"(number) : "D"(&moment), "S"(0) : "rcx", "r11", "memory"); \\
  } while (0)
"""

# Main gives the lock back FREE milliseconds after the start, the thread takes it after LOCK: nothing
# but time decides which comes first.
LOCK_OF_A_FREED_BLOCK = SLEEP + """
#include <pthread.h>
#include <stdlib.h>
struct queue { long room[3]; pthread_mutex_t mutex; };
static void* consume(void* p) {
  struct queue* queue = p;
  sleep_unseen(LOCK);
  pthread_mutex_lock(&queue->mutex);
  pthread_mutex_unlock(&queue->mutex);
  return 0;
}
int main(void) {
  pthread_t thread;
  struct queue* queue = calloc(1, sizeof *queue);
  pthread_create(&thread, 0, consume, queue);
  sleep_unseen(FREE);
  free(queue);
  pthread_join(thread, 0);
  return 0;
}
"""

# The slow thread does its last operation first, and fails last.
TWO_FAILURES = SLEEP + """
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static char* half;  // of it can be written to
static sem_t begun;
static void* slow(void* p) {
  sem_post(&begun);
  sleep_unseen(WAIT);
  SLOW
  return p;
}
static void* quick(void* p) {
  sem_wait(&begun);
  QUICK
  return p;
}
int main(void) {
  pthread_t a, b;
  sem_init(&begun, 0, 0);
  half = mmap(0, 128 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  mprotect(half, 64 << 20, PROT_READ | PROT_WRITE);
  pthread_create(&a, 0, slow, 0);
  pthread_create(&b, 0, quick, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"""


# Milliseconds: on a machine with much else to do a thread may be late by as much. After the last of
# them nobody waits for the slow thread any more.
WAITS = (60, 20, 90, 400)
ATTEMPTS = 40


class RecordEndings(Workshop):
    def record_until(self, wanted, source, waits=WAITS):
        """Records the program of `source(milliseconds)` until `wanted(found)`; all come back."""
        programs = [self.build(source(wait), f"prog{wait}") for wait in waits]
        for attempt in range(ATTEMPTS):
            program = programs[attempt % len(programs)]
            status, found = self.record(program)
            self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
            self.assertEqual(status, found["failing"])
            if wanted(found):
                self.assertEqual(self.json("replay", found["run"], "-n", 20)["identical"], 20)
                return found
        self.fail(f"none of {ATTEMPTS} recordings was the one wanted")

    def record(self, program):
        arguments = ["record", "--keep-all", "--json", "--", program]
        result = self.heddle(*arguments, status=None)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return result.returncode, json.loads(result.stdout)

    def schedule(self, run):
        return (self.work / ".heddle" / "runs" / run / "schedule").read_text()

    def freed(self, wanted, **milliseconds):
        def source(wait):
            text = LOCK_OF_A_FREED_BLOCK
            for name, share in milliseconds.items():
                text = text.replace(name, str(wait * share))
            return text

        def checked(found):
            if found["failing"]:
                self.assertEqual(found["failures"][0]["signature"]["kind"], "use-after-free")
            return found["failing"] == wanted

        return self.record_until(checked, source)

    def test_a_lock_in_freed_memory_ends_the_recording_as_it_ends_the_replay(self):
        self.freed(1, FREE=0, LOCK=1)

    def test_a_lock_in_memory_that_is_freed_later_does_not(self):
        self.freed(0, FREE=1, LOCK=0)

    def two_failures(self, slow, quick, wanted, waits=WAITS):
        def source(wait):
            text = TWO_FAILURES.replace("WAIT", str(wait))
            return text.replace("SLOW", slow).replace("QUICK", quick)

        return self.record_until(wanted, source, waits)

    def quick_was_first(self, found):
        self.assertEqual(found["failing"], 1)
        (thread,) = re.findall(r", thread (t0\.[12])\n", self.heddle("show", found["run"]).stdout)
        return thread == "t0.2"

    def slow_waited(self, found):
        """Where it is about to fail, too, the slow one comes to wait for the other. On a machine with
        much else to do it may be too late for that."""
        ends = "\nends t0.2\n" in self.schedule(found["run"])
        self.assertTrue(self.quick_was_first(found) or not ends)
        return ends

    def test_of_two_failing_threads_the_first_ends_the_run(self):
        def wanted(found):
            first = self.quick_was_first(found)
            shown = self.heddle("show", found["run"]).stdout
            self.assertIn('!"quick"' if first else '!"slow"', shown)
            self.assertNotIn('!"slow"' if first else '!"quick"', shown)
            return self.slow_waited(found)

        found = self.two_failures('assert(!"slow");', 'assert(!"quick");', wanted)
        # Without the thread that waits to fail there is less to follow, and the failure is the same.
        reduced = self.json("reduce", found["run"], "--time", 2)
        self.assertEqual(self.json("replay", reduced["run"])["reproduced"], True)
        self.assertIn('!"quick"', self.heddle("show", reduced["run"]).stdout)
        said = self.heddle("replay", found["run"], "--gdb", "--", "-batch", "-ex", "heddle goto 4",
                           "-ex", "heddle where").stdout
        self.assertIn("prog", said)

    def test_what_the_others_print_on_their_way_is_part_of_the_run(self):
        late = []

        def wanted(found):
            printed = self.heddle("show", found["run"], "--output").stderr
            self.assertIn("slow: ", printed)
            if self.quick_was_first(found):
                self.assertIn('!"quick"', printed)
                late.append(found["run"])
            return len(late) == len(WAITS)

        self.two_failures('perror("slow"); abort();', 'assert(!"quick");', wanted)

    def test_of_two_signals_the_first_ends_the_run(self):
        divide = '__asm__ volatile("idivl %0" : : "r"(0) : "eax", "edx");'
        for slow in ("__builtin_trap();", divide):
            with self.subTest(slow):
                self.two_failures(slow, "__builtin_trap();", self.slow_waited)

    def test_a_thread_that_a_signal_ends_in_the_middle_of_an_access_may_be_the_second(self):
        self.two_failures("memset(half, 1, 128 << 20);", "sleep_unseen(5); __builtin_trap();",
                          self.quick_was_first, waits=(0,))

    def test_a_thread_that_fails_while_the_program_exits_does_not_fail_the_run(self):
        self.two_failures('assert(!"slow");', "exit(0);", lambda found: found["failing"] == 0)
