# SPDX-License-Identifier: Apache-2.0
"""Tables that take long, in parts: each row is kept when it is done (BUILD/bench/SECTION.json), so that
several invocations can complete one table. Rows of other tools or other options are forgotten."""

import hashlib
import json
import pathlib
import time


class KeptRows:
    """`options`: what else a row depends on. Without `resume` the table begins anew."""

    def __init__(self, build, section, options, resume, minutes):
        build = pathlib.Path(build).resolve()
        self.file = build / "bench" / f"{section}.json"
        self.end = time.monotonic() + 60 * minutes if minutes else None
        tools = [build / "bin" / "heddle", build / "lib" / "libheddle_pass.so",
                 build / "lib" / "libheddle_rt.so.1"]
        sums = [hashlib.sha256(tool.read_bytes()).hexdigest() for tool in tools]
        self.key = json.dumps([sums, options])
        self.rows = {}
        if resume and self.file.exists():
            kept = json.loads(self.file.read_text())
            if kept["key"] == self.key:
                self.rows = kept["rows"]

    def complete(self, names, make):
        """Rows of `names`, in that order, made by `make(name)` where they are not there yet and there
        is time; and how many are missing."""
        for name in names:
            if name in self.rows or (self.end and time.monotonic() > self.end):
                continue
            self.rows[name] = make(name)
            self.file.parent.mkdir(exist_ok=True)
            self.file.write_text(json.dumps({"key": self.key, "rows": self.rows}))
        done = [self.rows[name] for name in names if name in self.rows]
        return done, len(names) - len(done)


def add_options(parser):
    parser.add_argument("--resume", action="store_true", help="keep the rows of the last invocation")
    parser.add_argument("--minutes", type=float, default=0, help="begin no row after that; 0: do all")


def cut_off(missing, section):
    """What a table that is not whole says of itself."""
    if missing == 0:
        return ""
    return (f"\nCut off: {missing} programs are not in this table. `bench/run {section} --resume` "
            "goes on.\n")
