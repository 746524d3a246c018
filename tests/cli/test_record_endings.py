# SPDX-License-Identifier: Apache-2.0
"""How recorded runs end: where memory was used that had been given back, and where several threads
fail at the same moment."""

from workshop import Workshop

# A sleep that is no operation: nobody can see it.
SLEEP = """
#include <sys/syscall.h>
#include <time.h>
static void sleep_unseen(int milliseconds) {
  const struct timespec moment = {0, milliseconds * 1000000L};
  long number = SYS_nanosleep;
  __asm__ volatile("syscall" : "+a"(number) : "D"(&moment), "S"(0) : "rcx", "r11", "memory");
}
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
#include <stdio.h>
#include <stdlib.h>
static volatile int stage;
static void* slow(void* p) {
  stage = 1;
  sleep_unseen(60);
  SLOW
  return p;
}
static void* quick(void* p) {
  while (stage == 0) {}
  QUICK
  return p;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, slow, 0);
  pthread_create(&b, 0, quick, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"""


class RecordEndings(Workshop):
    def freed(self, **milliseconds):
        source = LOCK_OF_A_FREED_BLOCK
        for name, value in milliseconds.items():
            source = source.replace(name, str(value))
        return self.build(source)

    def test_a_lock_in_freed_memory_ends_the_recording_as_it_ends_the_replay(self):
        program = self.freed(FREE=5, LOCK=60)
        found = self.json("record", "--keep-all", "--until-failure", 3, "--", program, status=1)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertEqual(found["failing"], 3)
        self.assertEqual({"use-after-free"},
                         {failure["signature"]["kind"] for failure in found["failures"]})
        self.assertEqual(self.json("replay", found["run"], "-n", 20)["identical"], 20)

    def test_a_lock_in_memory_that_is_freed_later_does_not(self):
        program = self.freed(FREE=60, LOCK=5)
        found = self.json("record", "--keep-all", "--until-failure", 3, "--", program)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertEqual(found["failing"], 0)

    def two_failures(self, slow, quick):
        program = self.build(TWO_FAILURES.replace("SLOW", slow).replace("QUICK", quick))
        found = self.json("record", "--keep-all", "--until-failure", 3, "--", program, status=1)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertEqual(found["failing"], 3)
        replayed = self.json("replay", found["run"], "-n", 20)
        self.assertEqual(replayed["identical"], 20)
        return found

    def test_of_two_failing_threads_the_first_ends_the_run(self):
        found = self.two_failures('assert(!"slow");', 'assert(!"quick");')
        for run in found["runs"]:
            shown = self.heddle("show", run).stdout
            self.assertIn('!"quick"', shown)
        schedule = (self.work / ".heddle" / "runs" / found["run"] / "schedule").read_text()
        self.assertIn("\nends t0.2\n", schedule)
        # Without the thread that waits to fail there is less to follow, and the failure is the same.
        reduced = self.json("reduce", found["run"], "--time", 2)
        self.assertEqual(self.json("replay", reduced["run"])["reproduced"], True)
        self.assertIn('!"quick"', self.heddle("show", reduced["run"]).stdout)
        said = self.heddle("replay", found["run"], "--gdb", "--", "-batch", "-ex", "heddle goto 8",
                           "-ex", "heddle where").stdout
        self.assertIn("prog.c", said)

    def test_what_the_others_print_on_their_way_is_part_of_the_run(self):
        self.two_failures('perror("slow"); abort();', 'assert(!"quick");')

    def test_a_thread_that_fails_while_the_program_exits_does_not_fail_the_run(self):
        program = self.build(
            TWO_FAILURES.replace("SLOW", 'assert(!"slow");').replace("QUICK", "exit(0);"))
        found = self.json("record", "--keep-all", "--until-failure", 3, "--", program)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertEqual(self.json("replay", found["run"], "-n", 5)["identical"], 5)
