#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One corpus program: from one failed run, as it was found and made smaller, `heddle locate` names the
culprit first, confirms it, confirms nothing else, and says what class of bug it is.
The truth is in the program itself: its marked lines, and the class of its manifest. Called by ctest
once for each program under bugs/."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

def marked_lines(source):
    """Marks stand at the end of a statement; what it does may be on the line it begins with."""
    marked = set()
    lines = source.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if "// heddle: culprit " not in line:
            continue
        marked.add(number)
        first = number
        while first > 1 and re.search(r"[(,=|&+]\s*$", lines[first - 2]):
            first -= 1
            marked.add(first)
    return marked


class Located:
    """What locate said of one failed run of a program, `raw` and reduced (`result`)."""

    def __init__(self, tools, directory, work, seed):
        self.tools, self.work = tools, work
        self.manifest = json.loads((directory / "manifest.json").read_text())
        self.source = next(directory.glob("buggy.c*"))
        cpp = self.source.suffix == ".cpp"
        subprocess.run([tools / ("heddle-c++" if cpp else "heddle-cc"),
                        "-std=c++20" if cpp else "-std=c17", "-g", "-O1", "-pthread",
                        self.source, "-o", "buggy"], cwd=work, check=True)
        while self.explore(seed) != self.manifest["failure"]["kind"]:
            seed += 1  # another of the bug's failures came first
        self.raw = self.heddle("locate", "latest")
        self.heddle("reduce", "latest")
        self.result = self.heddle("locate", "latest")

    def explore(self, seed):
        """The kind of the failure that is found first."""
        found = self.heddle("explore", "--memory-model", self.manifest["memory_models"][0], "--seed",
                            seed, "-n", self.manifest["explore_budget"], "--", "./buggy",
                            *self.manifest["args"], status=1)
        return found["failures"][0]["signature"]["kind"]

    def heddle(self, command, *arguments, status=0):
        line = [self.tools / "heddle", command, "--json", *map(str, arguments)]
        result = subprocess.run(line, cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)
        if result.returncode != status:
            sys.exit(f"{' '.join(map(str, line))}: exit status {result.returncode}\n"
                     f"{result.stdout}\n{result.stderr}")
        return json.loads(result.stdout)

    def on_culprits(self, finding):
        """How many of the finding's pairs have both sides on marked lines, and of how many."""
        lines = marked_lines(self.source)
        name = self.source.name

        def marked(access):
            return (access["file"] or "").endswith(name) and access["line"] in lines
        pairs = finding["pairs"]
        return sum(marked(pair["first"]) and marked(pair["second"]) for pair in pairs), len(pairs)

    def classes(self):
        return {self.manifest["class"], *self.manifest.get("or_class", [])}

    def row(self, result):
        first = result["findings"][0] if result["findings"] else None
        return {"name": self.manifest["name"], "expected": self.manifest["class"],
                "class": first and first["class"], "shape": first and first["shape"],
                "procedure": first and first["procedure"], "level": first and first["level"],
                "confirmed": bool(first and first["confirmed"]),
                "culprits": self.on_culprits(first) if first else (0, 0),
                "findings": len(result["findings"]), "passing": result["passing_runs"],
                "executions": result["executions"], "seconds": round(result["seconds"], 2)}

    def problem(self, result):
        findings = result["findings"]
        row = self.row(result)
        return ("nothing was found" if not findings
                else "what was found is not confirmed" if not row["confirmed"]
                else "not the culprit" if row["culprits"][0] == 0
                else "something else is confirmed" if any(f["confirmed"] for f in findings[1:])
                else f"the class is {row['class']}" if row["class"] not in self.classes()
                else None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="print the rows, check nothing")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        located = Located(arguments.tools.resolve(), arguments.directory.resolve(),
                          pathlib.Path(work), arguments.seed)
    for form, result in (("raw", located.raw), ("reduced", located.result)):
        print(json.dumps({"run": form, **located.row(result)}))
        if arguments.report:
            continue
        problem = located.problem(result)
        if problem:
            sys.exit(f"{form}: {problem}\n{json.dumps(result['findings'], indent=1)}")


if __name__ == "__main__":
    main()
