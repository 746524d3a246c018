#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One corpus program: of the buggy version a conflict at a marked line is found, and the order in
which it makes the program fail natively; of the fixed version no order does."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pin"))
from corpus_pin import CorpusPin  # noqa: E402

FAILING = ("fails", "often")


def culprit_lines(source):
    return {number for number, line in enumerate(source.read_text().splitlines(), 1)
            if "heddle: culprit" in line}


def lines_of(row):
    """The lines a conflict is about: of a lock also those it protects."""
    pairs = [row, *row["about"]]
    return {pair[side]["line"] for pair in pairs for side in ("first", "second")}


def conflicts(program, version, *arguments):
    program.build(version)
    return program.heddle("conflicts", *arguments, "--", f"./{version}", *program.manifest["args"],
                          status=None)


def main(tools, directory):
    with tempfile.TemporaryDirectory() as work:
        program = CorpusPin(tools, directory, work)
        buggy = conflicts(program, "buggy")
        assert buggy["outcome"] == "failing-order", buggy
        first = buggy["rows"][0]["conflict"]
        best = [row for row in buggy["rows"] if row["conflict"] == first]
        assert any(row["effect"] in FAILING for row in best), best
        lines = culprit_lines(program.source("buggy"))
        assert lines_of(best[0]) & lines, (best, lines)
        fixed = conflicts(program, "fixed")
        assert fixed["outcome"] in ("no-failing-order", "no-conflicts"), fixed


if __name__ == "__main__":
    main(*sys.argv[1:])
