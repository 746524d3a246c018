#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The slice of a corpus program's failing run: what is shown for it, the slice and events at the same
memory, holds every access that the source marks as a culprit; it lies within the slice that the code alone gives, and its trace takes at most two bytes an
instruction. Called by ctest once for each program under bugs/."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

BYTES_AN_INSTRUCTION = 2
# The first address of each part of memory, and each thread's first frame, take as much as ten others.
BYTES_AT_FIRST = 200


class Slice:
    def __init__(self, tools, directory, work):
        self.tools, self.directory, self.work = tools, directory, work
        self.manifest = json.loads((directory / "manifest.json").read_text())
        self.source = next(directory.glob("buggy.c*"))

    def heddle(self, *arguments, statuses=(0,)):
        result = subprocess.run([self.tools / "heddle", *map(str, arguments)], cwd=self.work,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if result.returncode not in statuses:
            sys.exit(f"heddle {' '.join(map(str, arguments))}: exit status {result.returncode}, "
                     f"expected {statuses}\n{result.stdout}\n{result.stderr}")
        return json.loads(result.stdout)

    def find(self):
        cpp = self.source.suffix == ".cpp"
        subprocess.run([self.tools / ("heddle-c++" if cpp else "heddle-cc"),
                        "-std=c++20" if cpp else "-std=c17", "-g", "-O1", "-pthread",
                        self.source, "-o", "buggy"], cwd=self.work, check=True)
        found = self.heddle("explore", "--json", "--memory-model", self.manifest["memory_models"][0],
                            "-n", self.manifest["explore_budget"], "--", "./buggy",
                            *self.manifest["args"], statuses=(1,))
        return found["run"]

    def culprits(self):
        """Lines that the source marks as to blame for the failure in the manifest."""
        marked = {}
        for number, line in enumerate(self.source.read_text().splitlines(), 1):
            for name in re.findall(r"heddle: culprit ([\w-]+)", line):
                marked[name] = number
        return {name: marked[name] for name in self.manifest["culprits"]}

    def check(self):
        run = self.find()
        sliced = self.heddle("slice", "--json", run)
        assert sliced["within_threads"] == "instructions", sliced
        by_code = self.heddle("slice", "--json", "--static", run)
        assert by_code["within_threads"] == "code", by_code
        whole = self.heddle("slice", "--json", "--whole-threads", run)
        more = set(sliced["slice"]) - set(by_code["slice"])
        assert not more, f"{run}: the instructions have events {more} that the code has not"
        assert set(by_code["slice"]) <= set(whole["slice"])
        executed, used = sliced["instructions_executed"], sliced["trace_bytes"]
        assert used <= BYTES_AN_INSTRUCTION * executed + BYTES_AT_FIRST, (used, executed)
        self.check_culprits(run, {*sliced["slice"], *sliced["same_memory"]})
        print(f"{sliced['events']} events: {whole['events_in_slice']} of whole threads, "
              f"{by_code['events_in_slice']} by code, {sliced['events_in_slice']} by instructions; "
              f"{sliced['executed_in_slice']} of {executed} instructions, {used / executed:.2f} "
              "bytes each")

    def check_culprits(self, run, shown):
        """What the run never came to cannot be shown."""
        lines = self.lines_of_events(run)
        for name, line in self.culprits().items():
            events = {event for event, its_line in lines.items() if its_line == line}
            if events and not events & shown:
                sys.exit(f"{run}: culprit {name} (line {line}, events {events}) is not shown")

    def lines_of_events(self, run):
        text = subprocess.run([self.tools / "heddle", "show", "--events", run], cwd=self.work,
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        place = re.compile(rf"^ *(\d+) t0.* at {re.escape(self.source.name)}:(\d+):", re.M)
        return {int(event): int(line) for event, line in place.findall(text)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        Slice(arguments.tools.resolve(), arguments.directory.resolve(), pathlib.Path(work)).check()


if __name__ == "__main__":
    main()
