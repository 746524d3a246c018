# SPDX-License-Identifier: Apache-2.0
"""`heddle pack`: what it makes replays where nothing of the program is."""

import os
import shutil
import subprocess
import unittest

from workshop import BUGS, TOOLS, Workshop

# Reads a file, draws a random number, looks at the clock, and may lose a visit.
PROGRAM = """
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
static volatile long hits;
static const char *volatile home, *volatile name, *volatile word;
static const void *volatile place, *volatile words, *volatile code, *volatile of_libc;  // the same elsewhere
static void* visit(void* p) {
  for (int i = 0; i < 2000; ++i) hits = hits + 1;
  pthread_exit(p);
}
int main(int argc, char** argv) {
  char text[100] = "";
  unsigned drawn;
  home = getenv("HOME");
  place = text;
  words = argv;
  code = (const void*)&visit;
  of_libc = stdout;
  name = argv[0];
  word = argv[argc - 1];
  if (word[0] != 'w') return 3;
  pthread_t a, b;
  read(open("settings", O_RDONLY), text, sizeof text - 1);
  getrandom(&drawn, sizeof drawn, 0);
  pthread_create(&a, 0, visit, 0);
  pthread_create(&b, 0, visit, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  printf("%s %zu %x %ld\\n", text, strlen(text), drawn, (long)time(0));
  fflush(stdout);
  assert(hits == 4000);
}
"""


class Either:
    def __eq__(self, status):
        return status in (0, 1)


EITHER = Either()  # the race may or may not be lost


class Pack(Workshop):
    def packed(self):
        (self.work / "settings").write_text("as they were")
        program = self.build(PROGRAM)
        found = self.json("record", "--keep-all", "--", program, "word", status=EITHER)
        made = self.json("pack", found["run"], "-o", "run.heddle")
        self.assertEqual((made["command"], made["reproduced"]), ("pack", True))
        self.assertEqual(made["bytes"], (self.work / "run.heddle").stat().st_size)
        return self.work / "run.heddle"

    def elsewhere(self):
        """Nothing of what the run was made with is there any more."""
        other = self.work / "elsewhere"
        other.mkdir()
        return other

    def replay_in(self, directory, *arguments, status=0):
        result = subprocess.run([TOOLS / "heddle", "replay", "--json", *arguments], cwd=directory,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "XDG_CACHE_HOME": str(directory / "cache"),
                                     "HEDDLE_DIR": str(directory / "store")})
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def test_replays_where_nothing_of_it_is(self):
        pack = self.packed()
        other = self.elsewhere()
        shutil.move(pack, other / "run.heddle")
        for name in ("prog", "prog.c", "settings", ".heddle"):
            path = self.work / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.assertIn('"identical": 20', self.replay_in(other, "run.heddle", "-n", "20").stdout)

    @unittest.skipUnless(os.geteuid() == 0, "needs root: another root is entered")
    def test_replays_under_another_root(self):
        pack = self.packed()
        # The runtime library is Heddle's own.
        self.replay_under_another_root(pack, 5, TOOLS.parent / "lib" / "libheddle_rt.so.1")

    def test_of_a_run_that_a_search_found(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        run = self.json("explore", "--", program, status=1)["run"]
        self.json("pack", run, "-o", "found.heddle")
        (self.work / "prog").unlink()
        self.assertEqual(self.json("replay", "found.heddle", "-n", 3)["identical"], 3)

    def test_of_a_program_with_tables_of_virtual_functions(self):
        program = self.build(BUGS / "missed_notification" / "buggy.cpp", compiler="heddle-c++")
        run = self.json("explore", "--", program, status=1)["run"]
        self.json("pack", run, "-o", "found.heddle")
        (self.work / "prog").unlink()
        self.assertEqual(self.json("replay", "found.heddle", "-n", 3)["identical"], 3)

    def test_with_a_library_of_the_users_own(self):
        def compile(name, text, *flags):
            (self.work / f"{name}.c").write_text(text)
            subprocess.run([TOOLS / "heddle-cc", "-g", "-O1", "-pthread", f"{name}.c", *flags],
                           cwd=self.work, check=True)

        compile("counter", "static long hits;\nvoid hit(void) { long seen = hits; hits = seen + 1; }\n"
                "long all(void) { return hits; }\n", "-shared", "-fPIC", "-o", "libcounter.so",
                "-Wl,-soname,libcounter.so")
        compile("prog", """
#include <assert.h>
#include <pthread.h>
void hit(void);
long all(void);
static void* visit(void* p) { hit(); return p; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, visit, 0);
  visit(0);
  pthread_join(t, 0);
  assert(all() == 2);
}
""", "-o", "prog", "-L.", "-lcounter", "-Wl,-rpath,$ORIGIN")
        run = self.json("explore", "-n", 500, "--", "./prog", status=1)["run"]
        self.json("pack", run, "-o", "found.heddle")
        (self.work / "prog").unlink()
        (self.work / "libcounter.so").unlink()
        self.assertEqual(self.json("replay", "found.heddle", "-n", 3)["identical"], 3)

    def test_hides_what_not_every_processor_can_do(self):
        # Seen by a program that looks how libc was told to: it does not come back.
        program = self.build("""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  const char* told = getenv("GLIBC_TUNABLES");
  puts(told && strstr(told, "-AVX2") ? "plain" : "as it is");
  return 0;
}
""")
        run = self.json("record", "--keep-all", "--", program)["run"]
        made = self.json("pack", run, "-o", "run.heddle", status=1)
        self.assertFalse(made["reproduced"])
        self.assertIn("output", made["difference"])

    def test_bad_packs(self):
        pack = self.packed()
        whole = pack.read_bytes()
        self.refused("replay", "run.heddle", status=3, says=("directory",),
                     environment={"TMPDIR": str(self.work / "absent")})
        for length in (20, 1000, len(whole) - 1):
            pack.write_bytes(whole[:length])
            self.refused("replay", "run.heddle", says=("run.heddle", "cut off"))
        pack.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
        self.refused("replay", "run.heddle", says=("run.heddle", "damaged"))
        pack.write_bytes(whole.replace(b"PACK 2", b"PACK 3", 1))
        self.refused("replay", "run.heddle", says=("version 3", "update Heddle"))
        pack.write_bytes(whole.replace(b"PACK 2", b"PACK 1", 1))
        self.refused("replay", "run.heddle", says=("version 1", "heddle pack RUN"))
        self.build(PROGRAM.replace("2000", "2001"))
        self.refused("pack", "r1", says=("built again",))
        self.refused("pack", "r7")
