# SPDX-License-Identifier: Apache-2.0
"""Recordings that are longer than their log may be: they begin at a checkpoint."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from workshop import TOOLS, Workshop

# Two threads that race; one that waits for a condition, one that sleeps, one that reads a pipe of the
# program's own, each of which is in the middle of that when a checkpoint is taken. A plain file is
# read on from where it was, and what was printed before is not printed again.
BUSY = """
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile long racing, locked;
static volatile int done, naps;
static __thread long own;
static int ends[2];
static long rounds;
static void* work(void* p) {
  long* const heap = malloc(sizeof *heap);
  *heap = 0;
  for (long i = 0; i < rounds; ++i) {
    racing = racing + 1;
    ++own;
    if (i % 16 == 0) {
      pthread_mutex_lock(&lock);
      locked = locked + 1;
      *heap += own;
      pthread_mutex_unlock(&lock);
    }
  }
  assert(own == rounds);
  free(heap);
  return p;
}
static void* wait_for_end(void* p) {
  pthread_mutex_lock(&lock);
  while (!done) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return p;
}
static void* nap(void* p) {
  while (!done) { usleep(2000); naps = naps + 1; }
  return p;
}
static void* drain(void* p) {
  char byte;
  long sum = 0;
  while (read(ends[0], &byte, 1) == 1) sum += byte;
  assert(sum == 3);
  return p;
}
int main(int count, char** arguments) {
  pthread_t threads[5];
  void* (*const routines[5])(void*) = {work, work, wait_for_end, nap, drain};
  char line[8] = "";
  int in = open("lines", O_RDONLY);
  rounds = strtol(arguments[1], 0, 10);
  pipe(ends);
  read(in, line, 2);
  printf("begin %s", line);
  fflush(stdout);
  for (int i = 0; i < 5; ++i) pthread_create(&threads[i], 0, routines[i], 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  char three = 3;
  write(ends[1], &three, 1);
  close(ends[1]);
  pthread_mutex_lock(&lock);
  done = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  for (int i = 2; i < 5; ++i) pthread_join(threads[i], 0);
  read(in, line, 2);
  printf("end %s%ld %d\\n", line, racing, naps > 0);
  fflush(stdout);
  assert(count < 3);
  return 0;
}
"""

# Adds up what comes through a pipe of another process, in two threads' turns.
READER = """
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>
static volatile long sum, rounds;
static volatile int done;
static void* mix(void* p) {
  while (!done) rounds = rounds + 1;
  return p;
}
int main(void) {
  pthread_t t;
  int in = open("in", O_RDONLY), events = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = 77};
  char bytes[7];
  long got;
  epoll_ctl(events, EPOLL_CTL_ADD, in, &event);
  pthread_create(&t, 0, mix, 0);
  for (;;) {
    event.data.u64 = 0;
    epoll_wait(events, &event, 1, -1);
    assert(event.data.u64 == 77);
    got = read(in, bytes, sizeof bytes);
    if (got <= 0) break;
    for (long i = 0; i < got; ++i) sum = sum * 31 + bytes[i] + rounds;
  }
  done = 1;
  pthread_join(t, 0);
  printf("%ld %ld\\n", sum, rounds);
  fflush(stdout);
  assert(sum == 0);
  return 0;
}
"""

# Four threads wait for somebody outside, each in another call, from before the others begin to work
# until after they are done: at every checkpoint.
WAITERS = """
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static volatile long racing;
static char texts[4][8];
static int pipe_in, polled_in, line, door;
static void* read_pipe(void* p) { read(pipe_in, texts[0], 7); return p; }
static void* poll_pipe(void* p) {
  struct pollfd wanted = {.fd = polled_in, .events = POLLIN};
  assert(poll(&wanted, 1, -1) == 1 && wanted.revents & POLLIN);
  read(polled_in, texts[1], 7);
  return p;
}
static void* receive(void* p) { recv(line, texts[2], 7, 0); return p; }
static void* answer(void* p) {
  int caller = accept(door, 0, 0);
  read(caller, texts[3], 7);
  write(caller, "heard", 5);
  return p;
}
static void* work(void* p) {
  for (int i = 0; i < 150000; ++i) racing = racing + 1;
  return p;
}
int main(void) {
  pthread_t threads[6];
  void* (*const routines[6])(void*) = {read_pipe, poll_pipe, receive, answer, work, work};
  struct sockaddr_un peer = {AF_UNIX, "peer"}, own = {AF_UNIX, "door"};
  pipe_in = open("pipe", O_RDWR);
  polled_in = open("polled", O_RDWR);
  line = socket(AF_UNIX, SOCK_STREAM, 0);
  door = socket(AF_UNIX, SOCK_STREAM, 0);
  assert(connect(line, (struct sockaddr*)&peer, sizeof peer) == 0);
  assert(bind(door, (struct sockaddr*)&own, sizeof own) == 0 && listen(door, 1) == 0);
  for (int i = 0; i < 6; ++i) {
    if (i == 4) usleep(200000);
    pthread_create(&threads[i], 0, routines[i], 0);
  }
  pthread_join(threads[4], 0);
  pthread_join(threads[5], 0);
  send(line, "done", 4, 0);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
  printf("%s %s %s %s %d\\n", texts[0], texts[1], texts[2], texts[3], racing > 0);
  fflush(stdout);
  assert(racing == 1);
  return 0;
}
"""

PAIR = """
#include <pthread.h>
#include <sys/socket.h>
static volatile long count;
static void* work(void* p) {
  for (int i = 0; i < 100000; ++i) count = count + 1;
  return p;
}
int main(void) {
  pthread_t t;
  int ends[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  pthread_create(&t, 0, work, 0);
  work(0);
  pthread_join(t, 0);
  return 0;
}
"""


class LongRecording(Workshop):
    def comes_back(self, run, times=5):
        self.assertEqual(self.json("replay", run, "-n", times)["identical"], times)

    def output_of(self, run):
        return (self.work / ".heddle" / "runs" / run / "stdout").read_text()

    def record_busy(self):
        program = self.build(BUSY)
        (self.work / "lines").write_text("1\n2\n")
        return self.json("record", "--max-log", 2, "--", program, 100000, "fail", status=1)

    def test_begins_at_a_checkpoint(self):
        found = self.record_busy()
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertGreater(found["dropped_segments"], 1)
        self.assertLess(found["log_bytes"], 2.2 * 2**20)
        self.assertEqual(found["failures"][0]["signature"]["kind"], "assert")
        run = found["run"]
        self.assertTrue(self.output_of(run).startswith("end 2\n"), self.output_of(run))
        self.comes_back(run)
        self.assertEqual(list((self.work / ".heddle" / "tmp").glob("recording-*")), [])
        # It is a run like others.
        self.assertIn("assert", self.heddle("show", run).stdout)
        said = self.heddle("replay", run, "--gdb", "--", "-batch", "-ex", "break __assert_fail",
                           "-ex", "continue", "-ex", "print locked").stdout
        self.assertIn("= 12500", said)
        self.comes_back(self.json("reduce", "--time", 5, run)["run"], 2)
        kept = self.work / ".heddle" / "runs" / run / "checkpoint"
        whole = kept.read_bytes()
        kept.write_bytes(whole[:len(whole) // 2])
        self.refused("replay", run, says=("checkpoint", "cut off"))
        (self.work / "lines").unlink()
        kept.write_bytes(whole)
        self.assertIn("a file that the recorded program had open",
                      self.heddle("replay", run, status=1).stdout)

    def test_a_peer_that_is_gone(self):
        program = self.build(READER)
        os.mkfifo(self.work / "in")

        def write():
            with open(self.work / "in", "wb", buffering=0) as out:
                for i in range(40):
                    out.write(b"piece %d\n" % i)
                    time.sleep(0.01)

        writer = threading.Thread(target=write)
        writer.start()
        self.addCleanup(writer.join)
        found = self.json("record", "--max-log", 2, "--max-events", 10_000_000, "--", program,
                          status=1)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertGreater(found["dropped_segments"], 0)
        (self.work / "in").unlink()
        self.comes_back(found["run"], 2)

    def test_threads_that_wait_outside(self):
        program = self.build(WAITERS)
        for name in ("pipe", "polled"):
            os.mkfifo(self.work / name)
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(self.work / "peer"))
        listener.listen()

        def serve():
            line, _ = listener.accept()
            with line, socket.socket(socket.AF_UNIX) as caller:
                line.recv(4)
                for name in ("pipe", "polled"):
                    (self.work / name).write_text(name)
                line.sendall(b"line")
                caller.connect(str(self.work / "door"))
                caller.sendall(b"door")
                caller.recv(5)

        peer = threading.Thread(target=serve)
        peer.start()
        self.addCleanup(peer.join)
        found = self.json("record", "--max-log", 2, "--max-events", 10_000_000, "--", program,
                          status=1)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertGreater(found["dropped_segments"], 1)
        for name in ("pipe", "polled", "peer", "door"):
            (self.work / name).unlink()
        self.assertEqual(self.output_of(found["run"]), "pipe polled line door 1\n")
        self.comes_back(found["run"])

    def test_that_was_killed_can_be_used(self):
        for milliseconds in (0, 20, 100):
            with self.subTest(milliseconds):
                self.kill_and_use(milliseconds / 1000)

    def kill_and_use(self, delay):
        """Maybe while a checkpoint is written over another one."""
        shutil.rmtree(self.work / ".heddle", ignore_errors=True)
        program = self.build(BUSY)
        (self.work / "lines").write_text("1\n2\n")
        recording = subprocess.Popen([TOOLS / "heddle", "record", "--max-log", "2", "--", program,
                                      "1000000000"], cwd=self.work, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
        tmp = self.work / ".heddle" / "tmp"

        def both_are_there():
            images = [pathlib.Path(path) for path in tmp.glob("recording-*.log.[01]")]
            return len(images) == 2 and all(image.stat().st_size > 0 for image in images)

        while not both_are_there():
            time.sleep(0.002)
        time.sleep(delay)
        recording.send_signal(signal.SIGKILL)
        recording.wait()
        log, = tmp.glob("recording-*.log")
        found = self.json("record", "--recover", log, status=1)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.comes_back(found["run"], 2)

    @unittest.skipUnless(os.geteuid() == 0, "needs root: a small file system is mounted")
    def test_on_a_disk_that_becomes_full(self):
        program = self.build(BUSY)
        (self.work / "lines").write_text("1\n2\n")
        # The first segment has room, the second one, behind a checkpoint, has not.
        with self.small_disk("2500k") as environment:
            self.refused("record", "--max-log", 2, "--", program, 100000, status=3,
                         says=("no room on the disk",), environment=environment)

    def test_why_there_is_no_checkpoint(self):
        self.refused("record", "--max-log", 1, "--", self.build(PAIR),
                     says=("1 MiB", "socket pair", "--max-log"))
