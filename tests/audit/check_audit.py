#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_audit.py BIN PROGRAM.c: explores the program with --audit. That it fails is its own business;
that the sharing analysis was wrong about it is not."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SCHEDULES = 6
FOUND_OR_NOT = (0, 1)

tools, source = (pathlib.Path(word).resolve() for word in sys.argv[1:])
manifest = source.parent / "manifest.json"
arguments = json.loads(manifest.read_text())["args"] if manifest.exists() else []
flags = re.findall(r"^// FLAGS: *(.*)$", source.read_text(), re.MULTILINE)
if source.parent.name == "litmus":
    flags.append("-DLITMUS_plain")  # the version with the most to judge
cpp = source.suffix == ".cpp"
level = "-O0" if source.stem == "buggy" else "-O1"

with tempfile.TemporaryDirectory() as work:
    os.environ |= {"HEDDLE_CACHE": f"{work}/cache", "HEDDLE_DIR": f"{work}/runs"}
    program = f"{work}/program"
    subprocess.run([tools / ("heddle-c++" if cpp else "heddle-cc"),
                    "-std=c++20" if cpp else "-std=gnu17", "-g", level, "-pthread",
                    *" ".join(flags).split(), source, "-lm", "-o", program], check=True)
    explored = subprocess.run([tools / "heddle", "explore", "--json", "--audit", "--all",
                               "--strategy", "random", "-n", str(SCHEDULES), "--", program,
                               *map(str, arguments)], cwd=work, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if explored.returncode not in FOUND_OR_NOT:
        sys.exit(f"exit status {explored.returncode}\n{explored.stdout}\n{explored.stderr}")
    if json.loads(explored.stdout)["schedules"] != SCHEDULES:
        sys.exit(f"expected {SCHEDULES} schedules\n{explored.stdout}")
