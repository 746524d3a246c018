#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A corpus program with its hand-placed breakpoints: the buggy one fails in the first controlled run,
whatever the seed, and comes back byte by byte; the fixed one does not fail. Where the pins leave the
scheduler a choice ("controlled: some"), one of the seeds must fail."""

import json
import pathlib
import sys
import tempfile

from controlled import ROOT, Workshop

sys.path.insert(0, str(ROOT / "breakpoint" / "corpus"))
import pin  # noqa: E402

SEEDS = 5


def main(tools, directory):
    directory = pathlib.Path(directory)
    manifest = json.loads((directory / "manifest.json").read_text())
    kinds = {manifest["failure"]["kind"], *manifest["failure"].get("also", [])}
    with tempfile.TemporaryDirectory() as work:
        workshop = Workshop(tools, work)
        for version in ("buggy", "fixed"):
            original = next(directory.glob(f"{version}.c*"))
            source = pathlib.Path(work) / original.name
            source.write_text(pin.pin_file(original))
            workshop.build(source, version)
        missed, replayed = [], False
        for seed in range(1, SEEDS + 1):
            status, result = workshop.heddle("run", "--json", "--seed", seed, "--", "./buggy",
                                             *manifest["args"])
            if status != 1:
                missed.append(seed)
                continue
            kind = result["outcome"]
            assert kind in kinds, f"seed {seed}: {kind}, expected one of {kinds}"
            if not replayed:
                replayed = True
                workshop.replay_is_identical(result["run"])
            status, result = workshop.heddle("run", "--json", "--seed", seed, "--", "./fixed",
                                             *manifest["args"])
            assert status == 0, f"fixed, seed {seed}: {result}"
        if not pin.certain_under_control(original):
            missed = missed if len(missed) == SEEDS else []
        assert not missed, f"no failure from the seeds {missed} of {SEEDS}"


if __name__ == "__main__":
    main(*sys.argv[1:])
