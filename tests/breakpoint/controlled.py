# SPDX-License-Identifier: Apache-2.0
"""A program with breakpoints, built by heddle-cc and run under control."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Workshop:
    def __init__(self, tools, work):
        self.tools, self.work = pathlib.Path(tools).resolve(), pathlib.Path(work)

    def build(self, source, name):
        cpp = source.suffix == ".cpp"
        subprocess.run([self.tools / ("heddle-c++" if cpp else "heddle-cc"),
                        "-std=c++20" if cpp else "-std=gnu17", "-g", "-O1", "-pthread",
                        f"-I{ROOT}/include", source, "-o", name], cwd=self.work, check=True)

    def heddle(self, *arguments):
        """Exit status and JSON of one command."""
        command = [str(self.tools / "heddle"), *map(str, arguments)]
        result = subprocess.run(command, cwd=self.work, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        try:
            return result.returncode, json.loads(result.stdout)
        except ValueError:
            sys.exit(f"{' '.join(command)}: status {result.returncode}\n{result.stdout}\n"
                     f"{result.stderr}")

    def replay_is_identical(self, run, times=5):
        status, again = self.heddle("replay", "--json", "-n", times, run)
        assert status == 0 and again["reproduced"], again
        assert again["events"] > 0, again
