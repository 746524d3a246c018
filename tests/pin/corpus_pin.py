# SPDX-License-Identifier: Apache-2.0
"""One corpus program, from its bug to a pinned test: found, reduced, pinned, checked."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


class CorpusPin:
    def __init__(self, tools, directory, work):
        self.tools, self.directory = pathlib.Path(tools).resolve(), pathlib.Path(directory).resolve()
        self.work = pathlib.Path(work)
        self.manifest = json.loads((self.directory / "manifest.json").read_text())
        self.name = self.manifest["name"]

    def source(self, version):
        return next(self.directory.glob(f"{version}.c*"))

    def build(self, version, source=None, program=None):
        source = source or self.source(version)
        cpp = source.suffix == ".cpp"
        subprocess.run([self.tools / ("heddle-c++" if cpp else "heddle-cc"),
                        "-std=c++20" if cpp else "-std=gnu17", "-g", "-O1", "-pthread",
                        f"-I{ROOT}/include", source, "-o", program or version],
                       cwd=self.work, check=True)

    def heddle(self, command, *arguments, status=0):
        """JSON of one command; `status` is what it must exit with, None: anything but a mistake."""
        line = [self.tools / "heddle", command, "--json", *map(str, arguments)]
        result = subprocess.run(line, cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)
        expected = (0, 1) if status is None else (status,)
        if result.returncode not in expected:
            sys.exit(f"{' '.join(map(str, line))}: exit status {result.returncode}\n"
                     f"{result.stdout}\n{result.stderr}")
        return json.loads(result.stdout)

    def find(self, seed=1):
        self.build("buggy")
        self.heddle("explore", "--seed", seed, "-n", self.manifest["explore_budget"], "--",
                    "./buggy", *self.manifest["args"], status=1)
        self.heddle("reduce", "latest")

    def pin(self, runs):
        return self.heddle("pin", "latest", "-n", runs, "-o", "pins", status=None)

    def check(self, version, runs):
        self.build(version)
        return self.heddle("pin", "--check", "pins/buggy.breakpoints.json", "-n", runs, "--",
                           f"./{version}", *self.manifest["args"], status=None)

    def patched(self, version):
        """The version's program with the patch that was made for the buggy one."""
        source = self.work / self.source("buggy").name
        source.write_text(self.source(version).read_text())
        subprocess.run(["patch", "-s", "-F3", source, "pins/buggy.patch"], cwd=self.work, check=True,
                       stdout=subprocess.DEVNULL)
        self.build(version, source, f"{version}.patched")


def programs():
    """Folders of the corpus programs that fail without a weak memory model."""
    folders = []
    for manifest in sorted((ROOT / "bugs").glob("*/manifest.json")):
        if "sc" in json.loads(manifest.read_text())["memory_models"]:
            folders.append(manifest.parent)
    return folders
