# SPDX-License-Identifier: Apache-2.0
"""`heddle pack` of runs that begin at a checkpoint: they replay where nothing of the program is."""

import os
import shutil
import subprocess
import unittest
from unittest import mock

from test_record_long import BUSY
from workshop import TOOLS, Workshop

# Has a file, a directory and a log open at the checkpoint; then asks libc for what it does otherwise on
# other processors, for the time, and the kernel for more memory.
OPENED = """
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
static volatile long racing;
static void* work(void* p) {
  for (int i = 0; i < 100000; ++i) racing = racing + 1;
  return p;
}
int main(void) {
  pthread_t t;
  char word[8] = "", copy[4096];
  struct stat status;
  int in = open("settings", O_RDONLY), directory = open("inside", O_RDONLY | O_DIRECTORY);
  int log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
  read(in, word, 2);
  pthread_create(&t, 0, work, 0);
  work(0);
  pthread_join(t, 0);
  read(in, word + 2, 5);
  memset(copy, 7, sizeof copy);
  char* more = sbrk(20000);
  assert(more != (char*)-1);
  more[19999] = 1;
  assert(write(log, "once more\\n", 10) == 10);
  assert(fstat(directory, &status) == 0 && S_ISDIR(status.st_mode));
  printf("%s %d %d %d\\n", word, copy[4095], time(0) > 0, racing > 0);
  fflush(stdout);
  assert(racing == 1);
}
"""

LIBRARY = """
static volatile long racing;
void add(void) { racing = racing + 1; }
long sum(void) { return racing; }
"""

WITH_LIBRARIES = """
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
void add(void);
long sum(void);
int version(void);
static void* work(void* p) {
  for (int i = 0; i < 100000; ++i) add();
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  work(0);
  pthread_join(t, 0);
  printf("%d %d\\n", version(), sum() > 0);
  fflush(stdout);
  assert(sum() == 1);
}
"""


class PackedCheckpoint(Workshop):
    def record(self, source, *arguments):
        return self.record_program(self.build(source), *arguments)

    def record_program(self, program, *arguments):
        found = self.json("record", "--max-log", 2, "--", program, *arguments, status=1)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertGreater(found["dropped_segments"], 0)
        return found["run"]

    def record_busy(self):
        (self.work / "lines").write_text("1\n2\n")
        return self.record(BUSY, 100000, "fail")

    def pack(self, run):
        made = self.json("pack", run, "-o", "run.heddle")
        self.assertTrue(made["reproduced"])
        return self.work / "run.heddle"

    def test_replays_where_nothing_of_it_is(self):
        pack = self.pack(self.record_busy())
        for name in ("prog", "prog.c", "lines", ".heddle"):
            path = self.work / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.assertEqual(self.json("replay", pack, "-n", 10)["identical"], 10)

    @unittest.skipUnless(os.geteuid() == 0, "needs root: another root is entered")
    def test_replays_under_another_root(self):
        self.replay_under_another_root(self.pack(self.record_busy()), 5)

    def test_has_its_own_copies_of_open_files(self):
        (self.work / "settings").write_text("before")
        (self.work / "inside").mkdir()
        run = self.record(OPENED)
        self.assertEqual((self.work / ".heddle" / "runs" / run / "stdout").read_text(),
                         "before 7 1 1\n")
        pack = self.pack(run)
        (self.work / "settings").write_text("after!")
        (self.work / "inside").rmdir()
        logged = (self.work / "log").read_text()
        self.assertEqual(self.json("replay", pack, "-n", 3)["identical"], 3)
        self.assertEqual((self.work / "log").read_text(), logged)
        # Without it there is nothing to make a pack of.
        (self.work / "settings").unlink()
        self.refused("pack", run, says=("settings", "is gone"))

    def test_with_libraries_of_the_users_own(self):
        # Variants of programs and libraries are in the cache: the pack has to bring them along.
        cache = mock.patch.dict(os.environ, {"HEDDLE_CACHE": str(self.work / "cache")})
        cache.start()
        self.addCleanup(cache.stop)

        def compile(compiler, name, text, *flags):
            (self.work / f"{name}.c").write_text(text)
            subprocess.run([compiler, "-g", "-O1", "-pthread", f"{name}.c", *flags], cwd=self.work,
                           check=True)

        shared = ("-shared", "-fPIC")
        compile(TOOLS / "heddle-cc", "woven", LIBRARY, *shared, "-o", "libwoven.so",
                "-Wl,-soname,libwoven.so")
        compile("cc", "plain", "int version(void) { return 1; }", *shared, "-o", "libplain.so")
        compile(TOOLS / "heddle-cc", "prog", WITH_LIBRARIES, "-o", "prog", "-L.", "-lwoven", "-lplain",
                "-Wl,-rpath,$ORIGIN")
        run = self.record_program("./prog")
        pack = self.pack(run)
        # Others are there now.
        compile("cc", "plain", "int version(void) { return 2; }", *shared, "-o", "libplain.so")
        (self.work / "libwoven.so").unlink()
        shutil.rmtree(self.work / ".heddle")
        shutil.rmtree(self.work / "cache")
        self.assertEqual(self.json("replay", pack, "-n", 3)["identical"], 3)

    def test_of_another_build_of_heddle(self):
        run = self.record_busy()
        lib = self.work / "lib"
        shutil.copytree(TOOLS.parent / "lib", lib)
        library = lib / "libheddle_rt.so.1"
        said = subprocess.run(["readelf", "-n", library], stdout=subprocess.PIPE, text=True).stdout
        build_id = bytes.fromhex(said.split("Build ID:")[1].split()[0])
        library.write_bytes(library.read_bytes().replace(build_id, bytes(len(build_id))))
        other = {"HEDDLE_LIB": str(lib)}
        self.refused("pack", run, says=("another build of Heddle",), environment=other)
        self.assertIn("another build of Heddle",
                      self.heddle("replay", run, status=1, environment=other).stdout)

    def test_damaged(self):
        run = self.record_busy()
        pack = self.pack(run)
        whole = pack.read_bytes()
        middle = len(whole) // 2
        pack.write_bytes(whole[:middle])
        self.refused("replay", pack, says=("run.heddle", "cut off"))
        pack.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:])
        self.refused("replay", pack, says=("run.heddle", "damaged"))
        kept = self.work / ".heddle" / "runs" / run / "checkpoint"
        image = kept.read_bytes()
        kept.write_bytes(image[:len(image) // 2])
        self.refused("pack", run, says=("checkpoint", "cut off"))
        for bytes_ in (b"", b"HEDDIMG1" + bytes(100000), b"HEDDIMG2" + bytes(100)):
            kept.write_bytes(bytes_)
            self.refused("pack", run, says=("checkpoint", "damaged"))
