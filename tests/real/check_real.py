#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real programs, built unmodified with heddle-cc from Debian's sources: their own work in every
variant, and under control.

    check_real.py TOOLS                 those marked fast
    check_real.py TOOLS --all           all of them
    check_real.py TOOLS --only redis
    check_real.py --table               the table of docs/real-programs.md

Each job must give what expected.json says of it. Where the sources cannot be had the exit status is
77, which ctest takes for "skipped"."""

import argparse
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import debian_sources  # noqa: E402
import kit as kits  # noqa: E402
from programs import PROGRAMS  # noqa: E402

VARIANTS = ("native", "production", "path", "full")
CARRIERS = ("fiber", "kernel")
PAGE = HERE.parents[1] / "docs" / "real-programs.md"


def attempt(action, times=1):
    """"yes", or why not."""
    for _ in range(times):
        try:
            action()
            return "yes"
        except (kits.Failure, subprocess.SubprocessError, OSError) as problem:
            why = f"no: {problem}"
    return why


def controlled(kit, program, job, carrier):
    ran = kit.control(program, job, "run", "--carrier", carrier)
    if job.fails:
        return kit.replay(program, job, 2)
    if job.client and b"answers as expected" not in ran.stderr:
        raise kits.Failure("the client got no answers")
    if not job.expects(ran.stdout.rpartition(b"Kept as ")[0]):  # what heddle adds
        raise kits.Failure("its output is wrong")
    return kit.replay(program, job, 2)


def columns(kit, program, job):
    """What is tried of a job: its name in expected.json, and the trial."""
    for variant in VARIANTS:
        yield variant, lambda variant=variant: kit.run(program, job, variant)
    if job.controlled:
        for carrier in CARRIERS:
            yield carrier, lambda carrier=carrier: controlled(kit, program, job, carrier)
        yield "explore", lambda: kit.control(program, job, "explore", "-n", "3")


def check(kit, program, expected, wanted):
    """How many results there were, and those that are not what is expected."""
    count, wrong = 0, []
    for job in program.jobs:
        for column, action in columns(kit, program, job):
            if wanted and column not in wanted:
                continue
            # What fails in some schedule may do so natively, too.
            began = time.monotonic()
            result = attempt(action, 3 if job.fails and column in ("native", "production") else 1)
            took = time.monotonic() - began
            count += 1
            hoped = expected.get(program.name, {}).get(job.name, {}).get(column, "yes")
            print(f"{program.name}, {job.name}, {column}: {result.splitlines()[0]} ({took:.0f} s)",
                  flush=True)
            if hoped == "yes" and result != "yes":
                wrong.append(f"{program.name}, {job.name}, {column}: {result}")
            elif hoped != "yes" and result == "yes":
                print("  works now: take it out of expected.json")
    return count, wrong


def table(expected):
    heads = (*VARIANTS, *CARRIERS, "explore")
    lines = ["| program | its work | " + " | ".join(heads) + " |", "|---" * (2 + len(heads)) + "|"]
    reasons = []
    for program in PROGRAMS:
        for job in program.jobs:
            cells = []
            for head in heads:
                hoped = expected.get(program.name, {}).get(job.name, {}).get(head, "yes")
                if not job.controlled and head not in VARIANTS:
                    hoped = "–"
                elif job.fails and head not in VARIANTS:
                    hoped = "fails"
                elif hoped != "yes":
                    if hoped not in reasons:
                        reasons.append(hoped)
                    hoped = f"no ({reasons.index(hoped) + 1})"
                cells.append(hoped)
            lines.append(f"| {program.shown} | {job.name} | " + " | ".join(cells) + " |")
    lines += [""] + [f"({number}) {reason}" for number, reason in enumerate(reasons, 1)]
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path, nargs="?")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--columns", default="", help="of the table, e.g. native,fiber")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    expected = json.loads((HERE / "expected.json").read_text())
    if arguments.table:
        print(table(expected), end="")
        return
    if arguments.tools is None:
        parser.error("TOOLS, the folder of heddle-cc, is missing")
    if table(expected) not in PAGE.read_text():
        sys.exit(f"{PAGE} does not hold the table that `check_real.py --table` prints")
    names = arguments.only.split(",") if arguments.only else [
        program.name for program in PROGRAMS if program.fast or arguments.all]
    chosen = [program for program in PROGRAMS if program.name in names]
    kit = kits.Kit(arguments.tools.resolve(), debian_sources.home("HEDDLE_REAL", "heddle-real"))
    kit.fetch(chosen)
    began, count, wrong = time.monotonic(), 0, []
    for program in chosen:
        more, bad = check(kit, program, expected,
                          [name for name in arguments.columns.split(",") if name])
        count, wrong = count + more, wrong + bad
    print(f"{count} results of {len(chosen)} programs in {(time.monotonic() - began) / 60:.0f} min: "
          f"{len(wrong) or 'none'} not as expected")
    if wrong:
        sys.exit("\n".join(["", *wrong]))


if __name__ == "__main__":
    main()
