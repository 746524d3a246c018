# SPDX-License-Identifier: Apache-2.0
from workshop import BUGS, Workshop

# Fails whenever its two threads overlap, which on a machine that is not busy they nearly always do.
RACE = """
#include <assert.h>
#include <pthread.h>
static volatile long hits;
static void* visit(void* p) {
  for (int i = 0; i < 2000; ++i) hits = hits + 1;
  return p;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, visit, 0);
  pthread_create(&b, 0, visit, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(hits == 4000);
}
"""

# Everything that threads can wait for each other with, and a result that depends on the order.
ORDERLY = """
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t start;
static sem_t slots;
static int turn, racy;
static _Atomic int done;
static char* order;
static void* work(void* p) {
  int self = (int)(long)p;
  pthread_barrier_wait(&start);
  for (int i = 0; i < 20; ++i) {
    sem_wait(&slots);
    pthread_rwlock_rdlock(&gate);
    racy = racy * 3 + self;
    pthread_rwlock_unlock(&gate);
    sem_post(&slots);
    char* block = malloc(40);
    block[0] = (char)self;
    free(block);
  }
  pthread_mutex_lock(&lock);
  while (turn != self) pthread_cond_wait(&changed, &lock);
  ++turn;
  pthread_cond_broadcast(&changed);
  struct timespec soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_nsec = (soon.tv_nsec + 1000000) % 1000000000;
  pthread_cond_timedwait(&changed, &lock, &soon);
  pthread_mutex_unlock(&lock);
  nanosleep(&(struct timespec){0, 100000}, 0);
  ++done;
  return p;
}
int main(void) {
  pthread_t threads[3];
  pthread_barrier_init(&start, 0, 3);
  sem_init(&slots, 0, 2);
  for (long i = 0; i < 3; ++i) pthread_create(&threads[i], 0, work, (void*)i);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  printf("%d %d %d\\n", done, turn, racy);
  return 0;
}
"""


# Goes another way, and prints something else, at another time.
CLOCK = """
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static volatile long shared;
static void* work(void* p) {
  for (int i = 0; i < 5; ++i) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_nsec % 2) shared++;
  }
  return p;
}
int main(void) {
  pthread_t t;
  struct timespec now;
  pthread_create(&t, 0, work, 0);
  work(0);
  pthread_join(t, 0);
  clock_gettime(CLOCK_REALTIME, &now);
  printf("%ld %ld\\n", shared, now.tv_nsec);
  return 0;
}
"""

# Fails from its third execution on: each leaves a byte in a file.
THIRD = """
#include <assert.h>
#include <fcntl.h>
#include <unistd.h>
int main(void) {
  int count = open("count", O_WRONLY | O_CREAT | O_APPEND, 0600);
  write(count, "x", 1);
  assert(lseek(count, 0, SEEK_END) < 3);
  return 0;
}
"""


class Record(Workshop):
    def test_a_failure_is_kept_and_comes_back(self):
        program = self.build(RACE)
        found = self.json("record", "--mode", "order", "--until-failure", 2000, "--", program,
                          status=1)
        self.assertEqual(found["command"], "record")
        self.assertEqual(found["outcome"], "failure")
        self.assertEqual(found["run"], "r1")
        self.assertEqual(found["failures"][0]["signature"]["kind"], "assert")
        self.assertEqual(found["not_reproduced"], 0)
        replayed = self.json("replay", "r1", "-n", 20)
        self.assertEqual(replayed["identical"], 20)
        reduced = self.json("reduce", "r1", "--time", 10)  # of a thousand switches
        self.assertLess(reduced["after"]["events"], reduced["before"]["events"] + 1)
        self.assertEqual(self.json("replay", reduced["run"])["reproduced"], True)

    def test_what_was_recorded_is_explained_like_any_other_run(self):
        # Few rounds, so that it is quick to explain, and slow ones, so that they overlap.
        program = self.build(RACE.replace("2000", "3").replace("4000", "6").replace(
            "hits = hits + 1;", "{ long seen = hits; usleep(500); hits = seen + 1; }").replace(
                "#include <assert.h>", "#include <assert.h>\n#include <unistd.h>"))
        found = self.json("record", "--until-failure", 300, "--", program, status=1)
        self.assertEqual(found["not_reproduced"], 0)
        located = self.json("locate", found["run"])
        self.assertEqual(located["findings"][0]["pairs"][0]["variable"], "hits")
        said = self.heddle("replay", found["run"], "--gdb", "--", "-batch", "-ex", "heddle goto 8",
                           "-ex", "heddle where").stdout
        self.assertIn("prog.c", said)

    def test_a_passing_run_is_kept_when_asked_for(self):
        program = self.build(ORDERLY)
        for _ in range(3):
            found = self.json("record", "--keep-all", "--", program)
            self.assertEqual(found["outcome"], "none")
            self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
            self.assertEqual(self.json("replay", found["run"], "-n", 5)["identical"], 5)

    def test_threads_are_told_the_same_times_again(self):
        program = self.build(CLOCK)
        found = self.json("record", "--keep-all", "--", program)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertEqual(self.json("replay", found["run"], "-n", 5)["identical"], 5)

    def test_the_fixed_program_passes_and_nothing_is_kept(self):
        program = self.build(BUGS / "lost_update" / "fixed.c")
        found = self.json("record", "--until-failure", 20, "--", program)
        self.assertEqual((found["recordings"], found["failing"], found["runs"]), (20, 0, []))

    def test_records_until_a_failure_and_no_further(self):
        program = self.build(THIRD)
        count = self.work / "count"
        found = self.json("record", "--until-failure", 2, "--", program)
        self.assertEqual((found["recordings"], found["failing"]), (2, 0))
        self.assertEqual(len(count.read_bytes()), 2)
        count.unlink()
        found = self.json("record", "--until-failure", 9, "--", program, status=1)
        self.assertEqual((found["recordings"], found["failing"]), (3, 1))
        self.assertEqual(found["failures"][0]["recording"], 3)
        self.assertEqual(len(count.read_bytes()), 4)  # and once under control
        # Whoever keeps all of them wants that many.
        count.unlink()
        found = self.json("record", "--keep-all", "--until-failure", 2, "--", program, status=1)
        self.assertEqual(found["recordings"], 2)

    def test_pauses_make_rare_orders_likely(self):
        # Its window is a few instructions: without pauses some hundred recordings do not meet it.
        program = self.build(BUGS / "lost_update" / "buggy.c")
        found = self.json("record", "--pauses", "--until-failure", 300, "--", program, status=1)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertEqual(self.json("replay", found["run"], "-n", 20)["identical"], 20)

    def test_a_deadlock_is_recognised(self):
        program = self.build("""
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void* other(void* p) {
  pthread_mutex_lock(&b);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&a);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_barrier_init(&both, 0, 2);
  pthread_create(&t, 0, other, 0);
  pthread_mutex_lock(&a);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&b);
  return 0;
}
""")
        found = self.json("record", "--", program, status=1)
        self.assertEqual(found["failures"][0]["signature"]["kind"], "deadlock")
        self.assertEqual(self.json("replay", found["run"], "-n", 3)["identical"], 3)

    def test_a_killed_program_leaves_its_log(self):
        program = self.build("""
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static volatile int shared;
static void* work(void* p) { for (int i = 0; i < 100; ++i) shared += i; return p; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  work(0);
  pthread_join(t, 0);
  kill(getpid(), SIGKILL);
  return 0;
}
""")
        found = self.json("record", "--", program, status=1)
        self.assertEqual(found["failures"][0]["signature"]["kind"], "signal")
        self.assertEqual(self.json("replay", found["run"], "-n", 3)["identical"], 3)

    def test_refuses_what_it_cannot_do(self):
        program = self.build(RACE)
        self.refused("record", "--mode", "dreams", "--", program, says=("order",))
        self.refused("record", "--until-failure", 0, "--", program)
        self.refused("record", "--", "/bin/true", says=("heddle-cc",))
        cancelling = self.build("""
#include <pthread.h>
int main(void) { return pthread_cancel(pthread_self()); }
""", name="cancelling")
        self.refused("record", "--", cancelling, says=("pthread_cancel",))
