# SPDX-License-Identifier: Apache-2.0
"""Programs built and recorded in a directory of their own: for the sections on recording."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests"), str(ROOT / "tests" / "real")]
import debian_sources  # noqa: E402
import kit as kits  # noqa: E402
from programs import PROGRAMS  # noqa: E402

BUGS = ROOT / "bugs"
# A program that does not end, natively or recorded, is stopped and counts as failing. What hangs does
# so for ever; none of the corpus takes a second.
SECONDS = 2


class Tools:
    def __init__(self, build, work):
        self.directory, self.work, self.said = build.resolve() / "bin", work, ""
        self.environment = {**os.environ, "HEDDLE_DIR": str(work / "runs")}

    def build(self, compiler, source, name, *flags):
        standard = "-std=c++20" if source.suffix == ".cpp" else "-std=gnu17"
        subprocess.run([compiler, standard, "-g", "-O1", "-pthread", *flags, source, "-o",
                        self.work / name], check=True)
        return f"./{name}"

    def heddle_build(self, source, name, *flags):
        compiler = "heddle-c++" if source.suffix == ".cpp" else "heddle-cc"
        return self.build(self.directory / compiler, source, name, *flags)

    def checked_build(self, source, name):
        """For ThreadSanitizer."""
        compiler = "clang++-19" if source.suffix == ".cpp" else "clang-19"
        return self.build(compiler, source, f"{name}.tsan", "-fsanitize=thread")

    def native(self, program, *arguments, **environment):
        """Whether it failed, and its seconds."""
        begin = time.monotonic()
        try:
            ended = subprocess.run([program, *map(str, arguments)], cwd=self.work,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=self.environment | environment, timeout=SECONDS)
            failed = ended.returncode != 0
        except subprocess.TimeoutExpired:
            failed = True
        return failed, time.monotonic() - begin

    def heddle(self, *words):
        """What the command says; nothing when it refuses: why is then in `said`."""
        ended = subprocess.run([self.directory / "heddle", *map(str, words)], cwd=self.work,
                               env=self.environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        said = json.loads(ended.stdout) if ended.stdout else {"error": ended.stderr.strip()}
        self.said = said.get("error", "")
        return None if self.said else said

    def record(self, program, *arguments, flags=()):
        return self.heddle("record", "--json", "--timeout", SECONDS, *flags, "--", program, *arguments)


@contextlib.contextmanager
def tools(build, work=None):
    """In `work`, if that is given, everything stays."""
    if work:
        work.mkdir(parents=True, exist_ok=True)
        yield Tools(build, work.resolve())
        return
    with tempfile.TemporaryDirectory() as scratch:
        yield Tools(build, pathlib.Path(scratch))


def corpus():
    """Names of its programs."""
    return [manifest.parent.name for manifest in sorted(BUGS.glob("*/manifest.json"))]


def source_of(name, version="buggy"):
    return next((BUGS / name).glob(f"{version}.*"))


def arguments_of(name):
    return json.loads((BUGS / name / "manifest.json").read_text()).get("args", [])


def real_kit(tools_, names):
    """Builds real programs of tests/real. Nothing where the sources cannot be had; it has said why."""
    kit = kits.Kit(tools_.directory, debian_sources.home("HEDDLE_REAL", "heddle-real"))
    kit.environment["HEDDLE_DIR"] = tools_.environment["HEDDLE_DIR"]
    tools_.environment = kit.environment
    try:
        kit.fetch(program for program in PROGRAMS if program.name in names)
    except SystemExit:
        return None
    return kit


def real_program(name):
    return next(program for program in PROGRAMS if program.name == name)
