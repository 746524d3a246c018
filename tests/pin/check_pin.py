#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One corpus program: its failure, found and reduced, is pinned without help, so that native runs
show it; the pins find it in the buggy program, not in the fixed one; the patch they are also given
as does the same. A program whose pin does not always work is named with its reason in open.json."""

import json
import pathlib
import subprocess
import sys
import tempfile

from corpus_pin import CorpusPin

RUNS = 12
OPEN = json.loads((pathlib.Path(__file__).parent / "open.json").read_text())


def main(tools, directory):
    with tempfile.TemporaryDirectory() as work:
        program = CorpusPin(tools, directory, work)
        program.find()
        pinned = program.pin(RUNS)
        if program.name in OPEN:
            print(f"open: {OPEN[program.name]}; {pinned['with']}")
            return
        assert pinned["outcome"] == "pinned", pinned
        # All of them on a quiet machine; a loaded one may let a pause pass.
        assert pinned["with"]["failures"] >= RUNS - 1, pinned["with"]
        assert pinned["with"]["other_failures"] == {}, pinned["with"]
        still = program.check("buggy", RUNS)
        assert still["outcome"] == "still there", still
        after = program.check("fixed", RUNS)
        assert after["outcome"] in ("gone", "never reached"), after
        if after["outcome"] == "never reached":
            # Said for a reason: a line is gone, or a side was never arrived at.
            assert after["reason"] or after["with"]["reached"] < RUNS, after
        program.patched("buggy")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(str(error))
