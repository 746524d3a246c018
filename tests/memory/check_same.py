#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program whose output does not depend on the schedule prints natively what it prints under each
memory model, and every such run can be replayed."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

MODELS = ("sc", "tso", "pso")
SEEDS = range(1, 6)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    arguments = parser.parse_args()
    tools, source = arguments.tools.resolve(), arguments.source.resolve()
    cpp = source.suffix == ".cpp"
    flags = " ".join(re.findall(r"^// FLAGS: *(.*)$", source.read_text(), re.M)).split()
    with tempfile.TemporaryDirectory() as work:
        def run(*command, check=True):
            return subprocess.run(command, cwd=work, check=check, stdout=subprocess.PIPE)
        run(tools / ("heddle-c++" if cpp else "heddle-cc"), "-std=c++20" if cpp else "-std=gnu17",
            "-O1", "-g", "-pthread", *flags, source, "-o", "program")
        native = run("./program", check=False)
        for model in MODELS:
            for seed in SEEDS:
                result = json.loads(run(tools / "heddle", "run", "--json", "--memory-model", model,
                                        "--seed", str(seed), "--", "./program", check=False).stdout)
                output = run(tools / "heddle", "show", "--output", result["run"]).stdout
                if (output, result["exit_code"]) != (native.stdout, native.returncode):
                    sys.exit(f"{source.name} under {model}, seed {seed}: {result}\n"
                             f"{output.decode(errors='replace')}\nnatively "
                             f"{native.returncode}\n{native.stdout.decode(errors='replace')}")
                run(tools / "heddle", "replay", result["run"])
            print(f"{source.name}: the same under {model}, {result['events']} events")


if __name__ == "__main__":
    main()
