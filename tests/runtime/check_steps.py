#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_steps.py HEDDLE COMPILER PROGRAM.cpp LEVEL: builds the program, runs it once, then again
with the same schedule and steps switched on. The events must be the same, enters and exits must
nest, and each loop must have been entered, run and left as often as the program's comments say."""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

heddle, compiler, source, level = sys.argv[1:]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def events_and_steps(run_id):
    events, steps = [], []
    for line in run(heddle, "show", "--events", run_id).splitlines():
        if match := re.match(r" *\d+ (t0\S*) +(.*)", line):
            # Frames are laid out differently when there is more code.
            events.append(re.sub(r"stack (t\S+?)[+-]\d+ = \d+", r"stack \1", match[0]))
        elif match := re.match(r" +(t0\S*) +(loop|call)_(\w+) at .*?([^()]+?)(?: \((.*)\))?$", line):
            steps.append((match[1], match[2], match[3], match[5], match[4]))
    return events, steps


def check_nesting(steps):
    open_regions = collections.defaultdict(list)
    for thread, region, action, function, place in steps:
        stack = open_regions[thread]
        name = (region, function, place)
        if action == "enter":
            stack.append(name)
        else:
            assert stack and stack[-1] == name, f"{thread}: {action} of {name} inside {stack}"
        if action == "exit":
            stack.pop()
    for thread, stack in open_regions.items():
        assert not stack, f"{thread} ends inside {stack}"


with tempfile.TemporaryDirectory() as work:
    os.environ |= {"HEDDLE_DIR": f"{work}/runs", "HEDDLE_CACHE": f"{work}/cache"}
    program = f"{work}/program"
    subprocess.run([compiler, level, "-pthread", source, "-o", program], check=True)
    run(heddle, "run", "--", program)
    pathlib.Path(f"{work}/schedule").write_text(run(heddle, "show", "--schedule", "r1"))
    plain, none = events_and_steps("r1")
    assert not none, none

    run(heddle, "run", "--schedule", f"{work}/schedule", "--steps", "loops", "--", program)
    with_loops, loops = events_and_steps("r2")
    assert with_loops == plain, "\n".join(["events differ:", *plain, "with loops:", *with_loops])
    check_nesting(loops)
    counts = collections.Counter((function, action) for _, _, action, function, _ in loops)
    for name, *expected in re.findall(r"// LOOP (\w+) (\d+) (\d+) (\d+)", pathlib.Path(source).read_text()):
        actual = [counts[name, action] for action in ("enter", "iteration", "exit")]
        # A loop that tests before its body, as all do without optimisation, begins once more.
        slack = 1 if level == "-O0" else 0
        assert actual[0] == int(expected[0]) and actual[2] == int(expected[2]), (name, actual)
        assert int(expected[1]) <= actual[1] <= int(expected[1]) + slack, (name, actual)

    run(heddle, "run", "--schedule", f"{work}/schedule", "--steps",
        "loops,calls,blocks,branches", "--", program)
    with_all, steps = events_and_steps("r3")
    assert with_all == plain, "\n".join(["events differ:", *plain, "with steps:", *with_all])
    check_nesting(steps)
    assert [step for step in steps if step[1] == "loop"] == loops
    text = run(heddle, "show", "--events", "r3")
    for kind in ("call_enter", "block", "branch 0", "branch 1"):
        assert f" {kind} at " in text, f"no {kind}"
