#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bug corpus with hand-placed breakpoints (breakpoint/corpus).

corpus.py check DIR            each pinned program fails, each pinned fixed one does not
corpus.py figures DIR [-n N]   probability without and with, time to error, overhead: Markdown
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "corpus"))
import pin  # noqa: E402
from statistics_of_runs import lower_bound, ratio_interval  # noqa: E402

CC = os.environ.get("CC", "clang-19")
CXX = os.environ.get("CXX", "clang++-19")
CALLGRIND_REPEATS = 100
RUNS_AT_ONCE = 4  # most of a pinned run is waiting
LONG_RUN = 1.0  # seconds without breakpoints; they cost some milliseconds once, whatever the length
STUCK_LIMIT = 20.0  # seconds; far beyond any run that is not stuck


class Program:
    """One program of the corpus and what is built from it."""

    def __init__(self, folder, build):
        self.manifest = json.loads((folder / "manifest.json").read_text())
        self.name = self.manifest["name"]
        self.suffix = ".c" if self.manifest["language"] == "c" else ".cpp"
        self.folder = folder
        self.build = build
        self.kind = self.manifest["failure"]["kind"]

    def source(self, version, pinned):
        original = self.folder / f"{version}{self.suffix}"
        if not pinned:
            return original
        copy = self.build / f"{self.name}.{version}{self.suffix}"
        copy.write_text(pin.pin_file(original))
        return copy

    def compiler(self, flags):
        command = [CC, "-std=gnu17"] if self.suffix == ".c" else [CXX, "-std=c++20"]
        return command + ["-O2", "-g", "-pthread", f"-I{ROOT}/include", *flags]

    def executable(self, version, pinned):
        """Built so that the failure shows: use after free needs the address sanitizer."""
        flags = ["-fsanitize=address"] if self.kind == "use-after-free" else []
        output = self.build / f"{self.name}.{version}.{'pinned' if pinned else 'plain'}"
        source = self.source(version, pinned)
        subprocess.run(self.compiler(flags) + [str(source), "-o", str(output)], check=True)
        return output

    def repeated(self, with_breakpoints):
        """The fixed version as a program that runs its main again and again."""
        flags = [] if with_breakpoints else ["-DHEDDLE_NO_BREAKPOINTS"]
        output = self.build / f"{self.name}.repeat{'' if with_breakpoints else '.none'}"
        parts = [f"{output}.o", f"{output}.main.o"]
        source = self.source("fixed", pinned=True)
        subprocess.run(self.compiler(flags) + ["-c", str(source), "-o", parts[0]], check=True)
        subprocess.run(["objcopy", "--redefine-sym", "main=program_main", parts[0]], check=True)
        subprocess.run([CC, "-O2", "-c", str(HERE / "repeat.c"), "-o", parts[1]], check=True)
        subprocess.run([CXX, "-pthread", *parts, "-o", str(output)], check=True)
        return output


def slices_if_stuck(pid):
    """Time slices of each thread, if all of them wait on a futex for ever; else None."""
    slices = {}
    try:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            call = (task / "syscall").read_text().split()
            # x86-64 202, others 98: futex; argument 3 is the time-out
            if call[0] not in ("202", "98") or int(call[4], 16) != 0:
                return None
            slices[task.name] = (task / "schedstat").read_text().split()[2]
    except (OSError, IndexError, ValueError):
        return None
    return slices or None


def run(executable):
    """One run: how it ended ("ok", "stuck", "signal N", "exit N", "use-after-free") and seconds."""
    begin = time.monotonic()
    process = subprocess.Popen(
        [str(executable)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, "ASAN_OPTIONS": "symbolize=0"})
    while True:
        try:
            _, errors = process.communicate(timeout=0.02)
            break
        except subprocess.TimeoutExpired:
            seconds = time.monotonic() - begin
            before = slices_if_stuck(process.pid)
            if before:
                # A process that is being torn down looks stuck for a moment.
                time.sleep(0.2)
            if before and before == slices_if_stuck(process.pid) or seconds > STUCK_LIMIT:
                process.kill()
                process.communicate()
                return "stuck", seconds
    seconds = time.monotonic() - begin
    if process.returncode < 0:
        return f"signal {-process.returncode}", seconds
    for symptom in (b"use-after-free", b"double-free"):
        if symptom in errors:
            return symptom.decode(), seconds
    return ("ok" if process.returncode == 0 else f"exit {process.returncode}"), seconds


def is_failure(kind, ending):
    """Whether the run ended in the way the manifest names, not merely badly."""
    return ending in {
        "assert": ("signal 6",),
        "signal": ("signal 11",),
        "use-after-free": ("use-after-free", "double-free"),
        "deadlock": ("stuck",),
        "lost-wakeup": ("stuck",),
    }[kind]


def programs(build):
    """Every program of the corpus that fails without a weak memory model."""
    build.mkdir(parents=True, exist_ok=True)
    return [Program(manifest.parent, build)
            for manifest in sorted((ROOT / "bugs").glob("*/manifest.json"))
            if (HERE.parent / "corpus" / f"{manifest.parent.name}.pins").exists()]


def check(build):
    good = True
    for program in programs(build):
        ending, _ = run(program.executable("buggy", pinned=True))
        fixed_ending, _ = run(program.executable("fixed", pinned=True))
        passed = is_failure(program.kind, ending) and fixed_ending == "ok"
        good = good and passed
        print(f"{program.name}: buggy {ending}, fixed {fixed_ending}: "
              f"{'ok' if passed else f'WRONG, {program.kind} expected'}")
    return 0 if good else 1


def count_failures(program, executable, runs):
    times, failures, other = [], 0, set()
    with concurrent.futures.ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
        ended = list(pool.map(lambda _: run(executable), range(runs)))
    for ending, seconds in ended:
        if is_failure(program.kind, ending):
            failures += 1
            times.append(seconds)
        elif ending != "ok":
            other.add(ending)
    if other:
        print(f"{program.name}: also ended with {sorted(other)}", file=sys.stderr)
    return failures, (sum(times) / len(times) if times else None)


def timed(executable, repeats):
    """Wall and CPU seconds of one run."""
    begin = time.monotonic()
    process = subprocess.Popen([str(executable), str(repeats)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        raise RuntimeError(f"{executable} failed with status {status}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime


def paused_ms(executable, repeats):
    """What the breakpoints themselves say they cost in one run: the sum of their pauses."""
    errors = subprocess.run(
        [str(executable), str(repeats)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, "HEDDLE_BREAKPOINTS": "report=json"}, check=True).stderr
    return sum(row["paused_ns"] for row in json.loads(errors)["breakpoints"]) / 1e6


def instructions(executable, repeats):
    """Instructions of one run under callgrind, which no noise touches; None without valgrind.

    Without the looks for stuck threads: valgrind's threads never are, and pauses there are long."""
    if shutil.which("valgrind") is None:
        return None
    errors = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(executable),
         str(repeats)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True,
        env={**os.environ, "HEDDLE_BREAKPOINTS": "early_end=0"}).stderr
    return int(re.search(r"Collected : (\d+)", errors)[1])


class Built:
    """All that is executed for the figures of one program, and what no noise touches."""

    def __init__(self, program):
        self.program = program
        self.plain = program.executable("buggy", pinned=False)
        self.pinned = program.executable("buggy", pinned=True)
        self.without, self.live = program.repeated(False), program.repeated(True)
        counts = [instructions(x, CALLGRIND_REPEATS) for x in (self.without, self.live)]
        self.instructions = counts[1] / counts[0] if counts[0] else None


class Overhead:
    """The fixed version with against without breakpoints, from ABBA quadruples."""

    def __init__(self, built, pairs):
        without, live = built.without, built.live
        repeats = 50
        while (seconds := timed(without, repeats)[0]) < LONG_RUN:
            repeats = int(repeats * max(1.2, min(20, 1.15 * LONG_RUN / seconds)))
        wall, control, cpu, cpu_control = [], [], [], []
        for _ in range(pairs // 2):
            a1, b1, b2, a2 = (timed(x, repeats) for x in (without, live, live, without))
            wall += [b1[0] / a1[0], b2[0] / a2[0]]
            cpu += [b1[1] / a1[1], b2[1] / a2[1]]
            control.append(a2[0] / a1[0])
            cpu_control.append(a2[1] / a1[1])
        self.seconds = seconds
        self.wall = ratio_interval(wall)
        self.cpu = ratio_interval(cpu)
        self.control = ratio_interval(control)
        self.cpu_control = ratio_interval(cpu_control)
        self.paused_ms = paused_ms(live, repeats)


def verdict(overhead, goal=1.05):
    """Resolved only where two runs of the same program differ by less than the goal."""
    _, low, high = overhead.wall
    _, control_low, control_high = overhead.control
    if control_high - control_low > 2 * (goal - 1):
        return "unresolved"
    return "met" if high < goal else "missed" if low > goal else "unresolved"


def percent(interval):
    return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*((ratio - 1) * 100 for ratio in interval))


def figures(build, runs, pairs):
    print(f"Probability of the failure over {runs} native runs each ({RUNS_AT_ONCE} at a time), "
          "without and with the hand-placed "
          "breakpoints; the bound is the one-sided 95 % lower bound (Clopper-Pearson). MTTE: mean "
          "wall time from the start of the process to its failure. Overhead: the fixed program, "
          f"repeated in one process, with against without breakpoints, {pairs} pairs in ABBA order, "
          "median and 95 % bootstrap interval; A/A is the same for two runs without. Paused: the sum "
          "of all pauses in one such run, all threads together, by the breakpoints' own count. "
          f"Instructions: {CALLGRIND_REPEATS} repetitions under callgrind, with against without.\n")
    print("| program | class | without | with | bound | MTTE s | fixed run s | paused ms | "
          "wall % | A/A % | < 5 % | CPU % | A/A % | instructions % |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        all_built = list(pool.map(Built, programs(build)))
    for built in all_built:
        program = built.program
        plain, _ = count_failures(program, built.plain, runs)
        failures, mtte = count_failures(program, built.pinned, runs)
        overhead = Overhead(built, pairs)
        cells = [
            program.name, program.manifest["class"], f"{plain / runs:.3f}",
            f"{failures / runs:.3f}", f"{lower_bound(failures, runs):.3f}",
            f"{mtte:.3f}" if mtte else "-", f"{overhead.seconds:.2f}", f"{overhead.paused_ms:.1f}",
            percent(overhead.wall), percent(overhead.control), verdict(overhead),
            percent(overhead.cpu), percent(overhead.cpu_control),
            f"{(built.instructions - 1) * 100:+.1f}" if built.instructions else "-",
        ]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("check", "figures"))
    parser.add_argument("build", type=pathlib.Path, help="a directory for what is built")
    parser.add_argument("-n", "--runs", type=int, default=300)
    parser.add_argument("--pairs", type=int, default=10)
    arguments = parser.parse_args()
    if arguments.command == "check":
        sys.exit(check(arguments.build))
    figures(arguments.build, arguments.runs, arguments.pairs)
