# SPDX-License-Identifier: Apache-2.0
"""Programs as people build them: where their libraries are, how their files are called, what else the
linker is asked for. Variants do what the program does, and nothing that was there before is changed."""

import os
import pathlib
import re
import shutil
import subprocess

from workshop import TOOLS, Workshop

COUNTER = """
long hits;
void record_hit(void) {
  long seen = hits;
  hits = seen + 1;
}
"""
MAIN = """
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
extern long hits;
void record_hit(void);
static void* visitor(void* unused) {
  record_hit();
  return unused;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, visitor, 0);
  record_hit();
  pthread_join(other, 0);
  assert(hits == 2);
  puts("fine");
  return 0;
}
"""


class Builds(Workshop):
    def setUp(self):
        super().setUp()
        self.environment = {"HEDDLE_CACHE": str(self.work / "cache")}
        (self.work / "counter.c").write_text(COUNTER)
        (self.work / "main.c").write_text(MAIN)

    def tool(self, *command, variant="native", folder=".", **environment):
        name, *rest = command
        name = TOOLS / name if name.startswith("heddle") else name
        return subprocess.run([name, *rest], cwd=self.work / folder, check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=os.environ | self.environment | environment
                              | {"HEDDLE_VARIANT": variant}).stdout

    def link(self, *words, output="prog", **options):
        self.tool("heddle-cc", "-g", "-O1", "-pthread", *words, "-o", output, **options)
        return f"./{output}"

    def explore(self, program, status=1, **options):
        found = self.json("explore", "-n", 100, "--", program, status=status,
                          environment=self.environment, **options)
        return found["failures"]

    def dynamic(self, program, tag):
        """What a program says of its libraries."""
        shown = self.tool("readelf", "-dW", program)
        return re.findall(rf"\({tag}\).*\[(.*)\]", shown)

    def test_libraries_are_looked_for_where_the_program_does(self):
        (self.work / "lib").mkdir()
        self.tool("gcc", "-shared", "-fPIC", "-Wl,-soname,libcounter.so.1", "counter.c", "-o",
                  "lib/libcounter.so.1")
        (self.work / "lib" / "libcounter.so").symlink_to("libcounter.so.1")
        for path in (f"{self.work}/lib", "$ORIGIN/lib", "lib"):
            with self.subTest(path):
                words = ("main.c", "-Llib", "-lcounter", f"-Wl,-rpath,{path}")
                program = self.link(*words)
                self.heddle("run", "--", program, environment=self.environment)
                for variant in ("production", "path", "full"):
                    program = self.link(*words, variant=variant)
                    self.assertEqual(self.dynamic(program, "RUNPATH")[0].split(":")[0], path)
                    self.assertEqual(self.tool(program), "fine\n")

    def test_libraries_without_a_name_are_called_by_their_path(self):
        (self.work / "inner").mkdir()
        for compiler in ("gcc", "heddle-cc"):
            self.tool(compiler, "-shared", "-fPIC", "counter.c", "-o", "libcounter.so")
            for path, folder in (("./libcounter.so", "."), (f"{self.work}/libcounter.so", "."),
                                 ("../libcounter.so", "inner"), ("inner/../libcounter.so", ".")):
                with self.subTest(f"{compiler}, {path}"):
                    words = (f"{self.work}/main.c", path)
                    program = self.link(*words, folder=folder)
                    result = subprocess.run([TOOLS / "heddle", "explore", "-n", "100", "--", program],
                                            cwd=self.work / folder, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE, text=True,
                                            env=os.environ | self.environment)
                    found = 1 if compiler == "heddle-cc" else 0
                    self.assertEqual(result.returncode, found, result.stderr)
                    for variant in ("production", "full"):
                        program = self.link(*words, folder=folder, variant=variant)
                        self.assertEqual(self.tool(program, folder=folder), "fine\n")

    def test_a_rebuilt_program_with_the_same_build_id_is_another_one(self):
        words = ("counter.c", "-Wl,--build-id=0x1234abcd")
        self.assertTrue(self.explore(self.link("main.c", *words)))
        (self.work / "other.c").write_text(MAIN.replace("hits == 2", "hits >= 1"))
        (first,) = (self.work / "cache" / "variants").rglob("prog")
        before = first.stat().st_ino
        self.assertFalse(self.explore(self.link("other.c", *words), status=0))
        # Who explores the first one meanwhile goes on with that.
        self.assertEqual(first.stat().st_ino, before)

    def test_a_program_that_is_linked_once_more_has_the_variants_it_had(self):
        (self.work / "elsewhere").mkdir()
        for output in ("prog", "elsewhere/prog"):
            self.explore(self.link("main.c", "counter.c", output=output))
            (variant,) = (self.work / "cache" / "variants").rglob("prog")
            (link,) = (self.work / "cache" / "links").iterdir()
            known = (variant.stat().st_ino, link.stat().st_ino)
            if output == "prog":
                first = known
        self.assertEqual(known, first)
        link.unlink()  # as what was not used for long
        self.assertTrue(self.explore("./prog"))

    def test_linking_again_mends_what_was_kept(self):
        for part in (0.3, 0.9999):
            program = self.link("main.c", "counter.c")
            (link,) = (self.work / "cache" / "links").iterdir()
            bytes_ = bytearray(link.read_bytes())
            bytes_[int(len(bytes_) * part)] ^= 255
            link.write_bytes(bytes_)
            self.link("main.c", "counter.c")
            self.explore(program)
            shutil.rmtree(self.work / "cache" / "variants")

    def test_a_variant_that_was_damaged_is_made_again(self):
        program = self.link("main.c", "counter.c")
        self.heddle("run", "--", program, environment=self.environment)
        (variant,) = (self.work / "cache" / "variants").rglob("prog")
        bytes_ = bytearray(variant.read_bytes())
        bytes_[len(bytes_) // 3:len(bytes_) // 3 + 4000] = bytes(4000)
        variant.write_bytes(bytes_)
        self.heddle("run", "--", program, environment=self.environment)

    def test_names_with_characters_that_mean_something_elsewhere(self):
        for folder in ("it's", 'a "word"', "back\\slash", "two words"):
            with self.subTest(folder):
                (self.work / folder).mkdir()
                for file in ("main.c", "counter.c"):
                    shutil.copy(self.work / file, self.work / folder)
                self.tool("heddle-cc", "-pthread", "-c", "main.c", "counter.c", folder=folder)
                program = self.link("main.o", "counter.o", output="pro'g", folder=folder)
                self.assertTrue(self.explore(str(pathlib.Path(folder) / program)))
                program = self.link("main.o", "counter.o", folder=folder, variant="production")
                self.assertEqual(self.tool(program, folder=folder), "fine\n")

    def test_what_the_loader_cannot_be_given_is_said(self):
        for name in ("two words", "co:lon"):
            self.environment = {"HEDDLE_CACHE": str(self.work / name)}
            self.tool("heddle-cc", "-shared", "-fPIC", "counter.c", "-o", "libcounter.so")
            program = self.link("main.c", "./libcounter.so")
            self.refused("explore", "--", program, status=3, says=[name, "HEDDLE_CACHE"],
                         environment=self.environment)
        # A library's own name is no obstacle.
        self.environment = {"HEDDLE_CACHE": str(self.work / "cache")}
        self.tool("heddle-cc", "-shared", "-fPIC", "counter.c", "-o", "lib counter.so")
        self.assertTrue(self.explore(self.link("main.c", "./lib counter.so")))

    def test_other_files_that_the_linker_writes_are_of_the_native_link(self):
        (self.work / "sub").mkdir()
        for folder in ("sub", self.work / "sub"):
            program = self.link("main.c", "counter.c", f"-Wl,--dependency-file={folder}/link.d",
                                f"-Wl,-Map={folder}/map")
            before = {file: file.read_bytes() for file in (self.work / "sub").iterdir()}
            self.assertEqual(len(before), 2)
            self.assertTrue(self.explore(program))
            for file, contents in before.items():
                self.assertEqual(file.read_bytes(), contents)

    def test_what_has_no_bitcode_is_explored_at_its_synchronisation(self):
        self.tool("gcc", "-c", "main.c", "counter.c")
        run = self.json("run", "--", self.link("main.o", "counter.o"), environment=self.environment)
        self.assertGreater(run["events"], 2)

    def test_what_has_no_build_id_is_explored_at_its_synchronisation(self):
        self.tool("gcc", "-pthread", "-Wl,--build-id=none", "main.c", "counter.c", "-o", "prog")
        run = self.json("run", "--", "./prog", environment=self.environment)
        self.assertGreater(run["events"], 2)
        self.assertEqual(self.json("replay", run["run"], "-n", 3)["identical"], 3)

    def test_what_is_not_built_with_heddle_needs_no_cache(self):
        self.tool("gcc", "-pthread", "-Wl,--build-id", "main.c", "counter.c", "-o", "prog")
        self.heddle("run", "--", "./prog",
                    environment={"HEDDLE_CACHE": "", "XDG_CACHE_HOME": "", "HOME": ""})

    def test_a_library_is_no_program(self):
        self.tool("gcc", "-shared", "-fPIC", "-Wl,-soname,libcounter.so", "counter.c", "-o",
                  "libcounter.so")
        self.refused("run", "--", "./libcounter.so", says=["a program that uses it"])

    def test_options_that_are_not_the_compilers_own(self):
        (self.work / "insert.ld").write_text(
            "SECTIONS { .own : { *(.own) } } INSERT AFTER .data;\n")
        (self.work / "words").write_text("-fsanitize=thread")
        for words in (("-T", "insert.ld"), ("-Xlinker", "-S"), ("@words",)):
            with self.subTest(words):
                self.assertTrue(self.explore(self.link("main.c", "counter.c", *words)))
        self.tool("gcc", "-fsanitize=thread", "-c", "main.c", "counter.c")
        objects = ("main.o", "counter.o")
        self.assertTrue(self.explore(self.link(*objects, "-Wl,-Bstatic", "-Wl,-Bdynamic")))
        self.assertEqual(self.tool(self.link(*objects, variant="production")), "fine\n")

    def test_what_the_user_preloads_is_there(self):
        (self.work / "answer.c").write_text("int answer(void) { return 7; }\n")
        (self.work / "asks.c").write_text(
            "__attribute__((weak)) int answer(void);\nint main(void) { return answer ? 0 : 5; }\n")
        self.tool("gcc", "-shared", "-fPIC", "answer.c", "-o", "answer.so")
        program = self.link("asks.c", "-fPIC")
        self.heddle("run", "--", program, status=1, environment=self.environment)
        preloaded = {"LD_PRELOAD": str(self.work / "answer.so")}
        self.heddle("run", "--", program, environment=self.environment | preloaded)

    def test_a_program_finds_what_is_beside_it(self):
        (self.work / "beside.cpp").write_text("""
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>
extern "C" char* __realpath_chk(const char*, char*, size_t) noexcept;  // what gcc -D_FORTIFY_SOURCE=2 calls
int main() {
  char link[PATH_MAX] = {};
  char path[PATH_MAX];
  if (readlink("/proc/self/exe", link, sizeof link - 1) <= 0) return 1;
  if (!realpath("/proc/self/exe", path) || std::string(path) != link) return 2;
  if (!__realpath_chk("/proc/self/exe", path, sizeof path) || std::string(path) != link) return 4;
  const auto own = std::filesystem::read_symlink("/proc/self/exe");
  return std::ifstream(own.parent_path() / "data.txt").good() ? 0 : 3;
}
""")
        (self.work / "data.txt").write_text("here")
        self.tool("heddle-c++", "-O1", "-std=c++20", "beside.cpp", "-o", "beside")
        self.heddle("run", "--", "./beside", environment=self.environment)
        self.heddle("explore", "-n", 10, "--", "./beside", environment=self.environment)
