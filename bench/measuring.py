# SPDX-License-Identifier: Apache-2.0
"""How figures are taken: interleaved ABBA pairs, medians, bootstrap intervals of the ratio, and a
row that compares a thing with itself. What the machine's noise could explain is "unresolved"."""

import pathlib
import random
import re
import statistics
import subprocess
import tempfile

RESAMPLES = 2000


def interleave(first, second, pairs):
    """Calls `first` and `second` in the order ABBA, `pairs` times each; returns both lists."""
    a, b = [], []
    for pair in range(pairs):
        order = ((first, a), (second, b))
        for measure, results in order if pair % 2 == 0 else reversed(order):
            results.append(measure())
    return a, b


def ratio(a, b, seed=1):
    """Median of the pairwise ratios a/b with its 95 % bootstrap interval."""
    ratios = [x / y for x, y in zip(a, b)]
    generator = random.Random(seed)
    medians = sorted(statistics.median(generator.choices(ratios, k=len(ratios)))
                     for _ in range(RESAMPLES))
    return (statistics.median(ratios), medians[int(RESAMPLES * 0.025)],
            medians[int(RESAMPLES * 0.975) - 1])


def verdict(measured, noise, goal):
    """Against "at least `goal` times": whether the interval of A/A leaves room for doubt."""
    middle, low, high = measured
    spread = max(noise[2], 1 / noise[1])
    if low / spread >= goal:
        return "yes"
    if high * spread < goal:
        return "no"
    return "unresolved"


def text(measured):
    return "{:.3g} ({:.3g} … {:.3g})".format(*measured)


def instructions(command, **options):
    """How many it executes, as callgrind counts them (which does not read all debug information)."""
    program, *arguments = command
    with tempfile.TemporaryDirectory() as folder:
        stripped = pathlib.Path(folder) / pathlib.Path(program).name
        subprocess.run(["strip", "-g", "-o", stripped, program], check=True)
        told = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                               stripped, *arguments], check=True, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace", **options)
    return int(re.search(r"Collected : (\d+)", told.stderr)[1])
