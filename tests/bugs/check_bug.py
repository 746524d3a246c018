#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One corpus program, all the way: the buggy version is found from every seed and comes back byte
by byte under each memory model of its manifest; under the others, and fixed under all, it stays
silent. Called by ctest once for each program under bugs/."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

MEMORY_MODELS = ("sc", "tso", "pso")
SEEDS = 20  # under the first model of the manifest
SEEDS_OF_FURTHER_MODELS = 5
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

    def explore(self, version, model, seed, statuses, flags=(), instance=None):
        instance = instance or self.manifest
        return self.heddle("explore", "--json", "--memory-model", model, "--seed", seed,
                           "-n", instance["explore_budget"], *flags, "--",
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
        for model in MEMORY_MODELS:
            if model in self.manifest["memory_models"]:
                first = model == self.manifest["memory_models"][0]
                self.check_found(model, SEEDS if first else SEEDS_OF_FURTHER_MODELS)
            else:
                result = self.explore("buggy", model, 1, statuses=(0,))
                print(f"buggy under {model}: silent in {result['schedules']} schedules")

    def check_found(self, model, seeds):
        tries = []
        reduced = False
        for seed in range(1, seeds + 1):
            result = self.explore("buggy", model, seed, statuses=(1,))
            signature = result["failures"][0]["signature"]
            self.check_signature(signature)
            tries.append(result["schedules_to_first_failure"])
            again = self.heddle("replay", "--json", "-n", 20 if seed == 1 else 3, result["run"])
            assert again["reproduced"] and again["events"] > 0
            if seed == 1:
                again = self.heddle("replay", "--json", "--carrier", "kernel", "-n", 3, result["run"])
                assert again["reproduced"] and again["events"] > 0
            # Bounds are those of the bug's main failure; others of its failures may need more.
            if not reduced and signature["kind"] == self.manifest["failure"]["kind"]:
                self.check_reduced(result["run"], model)
                reduced = True
        assert reduced, f"no {self.manifest['failure']['kind']} from any seed"
        print(f"buggy under {model}: found from each of {seeds} seeds, schedules: {tries}")

    def check_reduced(self, run, model):
        """Threads and preemptions are the computed minimum, and it is still that bug."""
        reduced = self.heddle("reduce", "--json", run)
        bounds = json.loads((self.directory.parent / "bounds.json").read_text())
        fewest = bounds.get(self.directory.name)  # not all programs can be searched exhaustively
        after = reduced["after"]
        assert after["preemptions"] <= reduced["before"]["preemptions"], reduced
        # Bounds are computed for the first model.
        if fewest and model == self.manifest["memory_models"][0]:
            assert after["threads"] == fewest["threads"], reduced
            assert after["preemptions"] == fewest["preemptions"], reduced
        assert self.heddle("replay", "--json", "-n", 20, reduced["run"])["reproduced"]
        assert self.heddle("pack", "--json", reduced["run"])["reproduced"]
        print(f"reduced: {reduced['before']} -> {after}")

    def check_instances(self):
        for instance in self.manifest.get("instances", []):
            tries = []
            for seed in range(1, INSTANCE_SEEDS + 1):
                result = self.explore("buggy", "sc", seed, (1,), instance=instance)
                self.check_signature(result["failures"][0]["signature"])
                tries.append(result["schedules_to_first_failure"])
            print(f"{' '.join(instance['args'])}: schedules {tries}")

    def check_fixed(self):
        self.build("fixed")
        for model in MEMORY_MODELS:
            self.check_silent(model)

    def check_silent(self, model):
        # Each schedule twice: what Heddle does not control shows here.
        result = self.explore("fixed", model, 1, (0,), ["--check-determinism"])
        assert result["schedules"] == self.manifest["explore_budget"]
        exhaustive = self.heddle("explore", "--json", "--memory-model", model, "--strategy", "chess",
                                 "-n", 20000 if model == "sc" else 5000, "--max-preemptions", 1,
                                 "--", "./fixed", *self.manifest["args"])
        print(f"fixed under {model}: silent in {result['schedules']} random schedules and "
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
