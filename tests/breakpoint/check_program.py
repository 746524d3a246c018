#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One of programs/: passes under control from every seed and strategy, and comes back byte by byte."""

import pathlib
import sys
import tempfile

from controlled import Workshop

SEEDS = 8
WAYS = ([], ["--strategy", "pct"], ["--strategy", "sequential"], ["--carrier", "kernel"],
        ["--memory-model", "tso"])


def main(tools, source):
    with tempfile.TemporaryDirectory() as work:
        workshop = Workshop(tools, work)
        workshop.build(pathlib.Path(source).resolve(), "program")
        for way in WAYS:
            for seed in range(1, SEEDS + 1) if not way else (1, 2):
                status, result = workshop.heddle("run", "--json", "--seed", seed, *way, "--",
                                                 "./program")
                assert status == 0, f"{way}, seed {seed}: {result}"
                if seed == 1:
                    workshop.replay_is_identical(result["run"], times=3)


if __name__ == "__main__":
    main(*sys.argv[1:])
