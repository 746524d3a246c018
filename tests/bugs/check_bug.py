#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One corpus program, all the way: the buggy version is found from every seed and comes back byte
by byte; the fixed one stays silent. Called by ctest once for each program under bugs/."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SEEDS = 20
INSTANCE_SEEDS = 3  # larger instances of a family; the benchmark has them all


class Bug:
    def __init__(self, tools, directory, work):
        self.tools, self.directory, self.work = tools, directory, work
        self.manifest = json.loads((directory / "manifest.json").read_text())

    def build(self, version):
        source = next(self.directory.glob(f"{version}.c*"))
        cpp = source.suffix == ".cpp"
        subprocess.run([self.tools / ("heddle-c++" if cpp else "heddle-cc"),
                        "-std=c++20" if cpp else "-std=c17", "-g", "-O1", "-pthread",
                        source, "-o", version], cwd=self.work, check=True)

    def heddle(self, *arguments, statuses=(0,)):
        result = subprocess.run([self.tools / "heddle", *map(str, arguments)], cwd=self.work,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if result.returncode not in statuses:
            sys.exit(f"heddle {' '.join(map(str, arguments))}: exit status {result.returncode}, "
                     f"expected {statuses}\n{result.stdout}\n{result.stderr}")
        return json.loads(result.stdout)

    def explore(self, version, seed, statuses, instance=None):
        instance = instance or self.manifest
        return self.heddle("explore", "--json", "--seed", seed,
                           "-n", instance["explore_budget"], "--",
                           f"./{version}", *instance["args"], statuses=statuses)

    def check_signature(self, signature):
        failure = self.manifest["failure"]
        kinds = {failure["kind"], *failure.get("also", [])}
        if signature["kind"] not in kinds:
            sys.exit(f"found {signature}, expected one of {kinds}")
        if "function" in failure and signature["kind"] == failure["kind"]:
            if signature["function"].split("::")[-1] != failure["function"]:
                sys.exit(f"found {signature}, expected it in {failure['function']}")

    def check_buggy(self):
        self.build("buggy")
        tries = []
        for seed in range(1, SEEDS + 1):
            result = self.explore("buggy", seed, statuses=(1,))
            self.check_signature(result["failures"][0]["signature"])
            tries.append(result["schedules_to_first_failure"])
            again = self.heddle("replay", "--json", "-n", 20 if seed == 1 else 3, result["run"])
            assert again["reproduced"] and again["events"] > 0
        print(f"buggy: found from each of {SEEDS} seeds, schedules: {tries}")

    def check_instances(self):
        for instance in self.manifest.get("instances", []):
            tries = []
            for seed in range(1, INSTANCE_SEEDS + 1):
                result = self.explore("buggy", seed, (1,), instance)
                self.check_signature(result["failures"][0]["signature"])
                tries.append(result["schedules_to_first_failure"])
            print(f"{' '.join(instance['args'])}: schedules {tries}")

    def check_fixed(self):
        self.build("fixed")
        result = self.explore("fixed", 1, statuses=(0,))
        assert result["schedules"] == self.manifest["explore_budget"]
        exhaustive = self.heddle("explore", "--json", "--strategy", "chess", "-n", 20000,
                                 "--max-preemptions", 1, "--", "./fixed", *self.manifest["args"])
        print(f"fixed: silent in {result['schedules']} random schedules and "
              f"{exhaustive['schedules']} with bounded preemptions "
              f"(all with at most {exhaustive['exhausted_bound']})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        bug = Bug(arguments.tools.resolve(), arguments.directory.resolve(), pathlib.Path(work))
        bug.check_buggy()
        bug.check_instances()
        bug.check_fixed()


if __name__ == "__main__":
    main()
