# SPDX-License-Identifier: Apache-2.0
"""The log of a recording: cut, bounded, left behind."""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import time
import unittest

from workshop import BUGS, TOOLS, Workshop

# Two threads work under a lock, then the program waits for ever.
ENDLESS = """
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long count;
static void* work(void* p) {
  for (int i = 0; i < 200; ++i) {
    pthread_mutex_lock(&lock);
    count = count + 1;
    pthread_mutex_unlock(&lock);
  }
  return p;
}
int main(void) {
  pthread_t t;
  char byte;
  pthread_create(&t, 0, work, 0);
  work(0);
  pthread_join(t, 0);
  close(open("ready", O_WRONLY | O_CREAT, 0600));
  return (int)read(open("never", O_RDWR), &byte, 1);
}
"""

LONG = """
#include <pthread.h>
static volatile long count;
static void* work(void* p) {
  for (int i = 0; i < 100000; ++i) count = count + 1;
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  work(0);
  pthread_join(t, 0);
  return 0;
}
"""


class RecordingLog(Workshop):
    def left_behind(self):
        """The log of a recording whose heddle was killed."""
        program = self.build(ENDLESS)
        os.mkfifo(self.work / "never")
        recording = subprocess.Popen([TOOLS / "heddle", "record", "--timeout", "60",
                                      "--max-log", "4", "--", program],
                                     cwd=self.work, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
        while not (self.work / "ready").exists():
            time.sleep(0.01)
        recording.send_signal(signal.SIGKILL)
        recording.wait()
        logs = list((self.work / ".heddle" / "tmp").glob("recording-*.log"))
        self.assertEqual(len(logs), 1)
        return logs[0]

    def test_of_a_killed_recording_can_be_used(self):
        log = self.left_behind()
        found = self.json("record", "--recover", log, status=1)
        self.assertEqual(found["failures"][0]["signature"]["kind"], "hang")
        self.assertEqual(self.json("replay", found["run"], "-n", 3)["identical"], 3)
        # All that the two threads did was in it.
        shown = self.heddle("show", found["run"]).stdout
        self.assertIn("waits for something from outside that never", shown)
        self.assertGreater(self.json("ls")["runs"][-1]["events"], 2 * 200 * 3)

        # Cut anywhere: what is there is used, up to where the log ends, or one error says why not.
        whole = log.read_bytes()
        whole = whole[:whole.rstrip(b"\0").__len__()]
        draw = random.Random(1)
        short = self.work / "short.log"
        notes = []
        for length in [0, 4, 100, 30000] + [draw.randrange(len(whole)) for _ in range(8)]:
            short.write_bytes(whole[:length])
            result = subprocess.run([TOOLS / "heddle", "record", "--recover", short, "--json"],
                                    cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True)
            self.assertIn(result.returncode, (1, 2), result.stderr)
            if result.returncode == 1:
                found = json.loads(result.stdout)
                self.assertEqual(found["failures"][0]["signature"]["kind"], "hang")
                self.assertEqual(self.json("replay", found["run"], "-n", 2)["identical"], 2)
                notes.append(found.get("note", ""))
            else:
                self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
                self.assertIn("short.log", result.stderr)

        self.assertTrue(any("was not recorded" in note for note in notes), notes)

        # Another build is not what was recorded.
        self.build(ENDLESS.replace("200", "201"))
        self.refused("record", "--recover", log, says=("another build",))

    def test_that_is_cut_gives_what_was_recorded_before(self):
        """A few of the cuts of bench/record_cuts."""
        section = BUGS.parent / "bench" / "record_cuts" / "section"
        cuts = subprocess.run([section, TOOLS.parent, "--cuts", "16"], stdout=subprocess.PIPE,
                              text=True)
        self.assertEqual(cuts.returncode, 0, cuts.stdout)

    def test_is_bounded(self):
        program = self.build(LONG)
        self.refused("record", "--keep-all", "--max-events", 1000, "--", program,
                     says=("--max-events",))
        self.assertEqual(list((self.work / ".heddle" / "tmp").glob("recording-*")), [])

    def test_is_gone_after_the_recording(self):
        self.json("record", "--", self.build(LONG))
        self.assertEqual(list((self.work / ".heddle" / "tmp").glob("recording-*")), [])

    def test_that_cannot_be_made(self):
        program = self.build(LONG)
        self.json("run", "--", program)  # from here on its variant is there
        limited = subprocess.run([TOOLS / "heddle", "record", "--", program], cwd=self.work,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                       (1 << 20, 1 << 20)))
        self.assertEqual(limited.returncode, 3, limited.stderr)
        self.assertIn("ulimit -f", limited.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root: a small file system is mounted")
    def test_on_a_disk_that_is_full(self):
        program = self.build(LONG)
        with self.small_disk("2m") as environment:
            self.refused("record", "--", program, status=3, says=("no room on the disk",),
                         environment=environment)

    def test_that_is_none(self):
        (self.work / "text").write_text("not a log")
        self.refused("record", "--recover", "text", says=("not the log of a recording", "recording-*.log"))
        self.refused("record", "--recover", "absent")
        self.refused("record", "--recover", "text", "--", "./prog", says=("--recover",))
        self.refused("record", says=("no program",))
