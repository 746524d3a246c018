#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""glibc's own tests of its threads, under control. Each test that passes natively must pass under
both carriers, but for those of expected.json, which says why not.

    check_conformance.py TOOLS            a tenth of the tests
    check_conformance.py TOOLS --all      all of them
    check_conformance.py TOOLS --only tst-mutex1,tst-cond2
    check_conformance.py --table          the list in docs/limits.md

The sources are Debian's glibc package, fetched with an apt configuration of their own into
$HEDDLE_CONFORMANCE (by default in the user's cache): nothing of the system is changed. Where they
cannot be had the exit status is 77, which ctest takes for "skipped"."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import debian_sources  # noqa: E402

PARTS = ("nptl", "support", "sysdeps/pthread", "test-skeleton.c", "include/array_length.h",
         "include/libc-diag.h", "include/intprops.h", "include/verify.h")
# Where glibc's makefile says things are; no test of threads looks.
DIRECTORIES = ("SRCDIR", "OBJDIR", "OBJDIR_ELF_LDSO", "INSTDIR", "LIBDIR", "BINDIR", "SBINDIR",
               "SLIBDIR", "ROOTSBINDIR", "COMPLOCALEDIR")
NATIVE_SECONDS, CONTROLLED_SECONDS = 30, 40
CARRIERS = ("fiber", "kernel")
PAGE = HERE.parents[1] / "docs" / "limits.md"


def table(expected):
    """The tests that do not pass, by reason."""
    tests = {}
    for name, reason in expected.items():
        tests.setdefault(reason, []).append(name)
    rows = sorted((reason, ", ".join(sorted(names))) for reason, names in tests.items())
    return "\n".join(["| the test | tests |", "|---|---|", *(f"| {reason} | {names} |" for reason, names in rows),
                      ""])


class Sources:
    """The extracted parts of the package, and what is built from them."""

    def __init__(self, home):
        self.home = home
        sources = debian_sources.DebianSources(home)
        sources.fetch(["glibc"])
        self.tree = sources.unpack("glibc", home, *PARTS)
        (self.tree / "include" / "config.h").touch()  # what its configure would have made

    def compile(self, source, output, *more):
        command = ["gcc", "-w", "-std=gnu11", "-O1", "-g", "-D_GNU_SOURCE", "-DTIMEOUTFACTOR=1",
                   *(f'-D{name}_PATH="."' for name in DIRECTORIES), "-include", "limits.h", "-I.", "-Isupport",
                   "-Iinclude", "-Inptl", "-Isysdeps/pthread", source, "-o", output, *more]
        return subprocess.run(command, cwd=self.tree, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def build_support(self):
        library = self.home / "libsupport.a"
        if library.exists():
            return library
        objects = self.home / "objects"
        objects.mkdir(exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for source in self.tree.glob("support/*.c"):
                if not source.name.startswith(("tst-", "test-")):
                    pool.submit(self.compile, source, objects / f"{source.stem}.o", "-c")
        subprocess.run(["ar", "rcs", library, *objects.glob("*.o")], check=True)
        return library

    def tests(self):
        found = [*self.tree.glob("nptl/tst-*.c"), *self.tree.glob("sysdeps/pthread/tst-*.c")]
        return {path.stem: path for path in sorted(found, key=lambda path: path.stem)
                if "test-driver.c" in path.read_text() or "test-skeleton.c" in path.read_text()}


class Suite:
    def __init__(self, tools, sources):
        self.heddle, self.sources = tools / "heddle", sources
        self.library = sources.build_support()
        self.programs = sources.home / "programs"
        self.programs.mkdir(exist_ok=True)

    def program(self, name, source):
        """None if it needs more of glibc's tree than its tests alone."""
        program = self.programs / name
        if program.exists() or self.sources.compile(source, program, self.library, "-pthread", "-lrt"):
            return program
        return None

    def passes(self, command, seconds):
        test = subprocess.Popen(command, cwd=self.programs, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                start_new_session=True)
        try:
            return test.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            try:
                os.killpg(test.pid, signal.SIGKILL)  # children that a test has left, too
            except ProcessLookupError:
                pass
            test.wait()

    def check(self, name, source):
        program = self.program(name, source)
        if program is None:
            return "not built"
        if not self.passes([program, "--direct"], NATIVE_SECONDS):
            return "fails natively"
        for carrier in CARRIERS:
            command = [self.heddle, "run", "--json", "--carrier", carrier, "--timeout", "20",
                       "--", program, "--direct"]
            if not self.passes(command, CONTROLLED_SECONDS):
                return f"fails under {carrier}"
        return "passes"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path, nargs="?")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true", help="name each test with its result")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    expected = json.loads((HERE / "expected.json").read_text())
    if arguments.table:
        print(table(expected), end="")
        return
    if arguments.tools is None:
        parser.error("TOOLS, the folder of heddle, is missing")
    if table(expected) not in PAGE.read_text():
        sys.exit(f"{PAGE} does not hold the table that `check_conformance.py --table` prints")
    home = debian_sources.home("HEDDLE_CONFORMANCE", "heddle-conformance")
    os.environ["HEDDLE_DIR"] = str(home / "runs")
    sources = Sources(home)
    suite = Suite(arguments.tools.resolve(), sources)
    tests = sources.tests()
    if arguments.only:
        tests = {name: tests[name] for name in arguments.only.split(",")}
    elif not arguments.all:
        tests = dict(list(tests.items())[::10])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(tests, pool.map(suite.check, tests, tests.values())))
    counts = {}
    unexpected = []
    for name, result in results.items():
        counts[result] = counts.get(result, 0) + 1
        if arguments.verbose:
            print(f"{result}: {name}")
        if result.startswith("fails under") and name not in expected:
            unexpected.append(f"{name}: {result}")
        if result == "passes" and name in expected and arguments.all:
            print(f"{name} passes now: take it out of expected.json")
    print(f"{len(results)} tests: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    if unexpected:
        sys.exit("\n".join(unexpected))


if __name__ == "__main__":
    main()
