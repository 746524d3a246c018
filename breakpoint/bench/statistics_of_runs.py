# SPDX-License-Identifier: Apache-2.0
"""Intervals for the figures: exact for counts, bootstrap for ratios of times."""

import math
import random


def lower_bound(successes, runs, confidence=0.95):
    """Clopper-Pearson: the probability that is at least this much, one-sided."""
    if successes == 0:
        return 0.0

    def at_least(p):  # P(X >= successes)
        logs = [
            math.lgamma(runs + 1) - math.lgamma(k + 1) - math.lgamma(runs - k + 1)
            + k * math.log(p) + (runs - k) * math.log1p(-p)
            for k in range(successes, runs + 1)
        ]
        top = max(logs)
        return math.exp(top) * sum(math.exp(x - top) for x in logs)

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if at_least(min(max(middle, 1e-12), 1 - 1e-12)) > 1 - confidence:
            high = middle
        else:
            low = middle
    return low


def wilson(successes, runs, z=1.96):
    """Two-sided interval of a probability, for error bars."""
    centre = (successes + z * z / 2) / (runs + z * z)
    spread = z / (runs + z * z) * math.sqrt(successes * (runs - successes) / runs + z * z / 4)
    return max(0.0, centre - spread), min(1.0, centre + spread)


def ratio_interval(ratios, confidence=0.95, seed=1):
    """Median of the ratios of pairs with its bootstrap interval."""
    generator = random.Random(seed)
    medians = sorted(
        sorted(generator.choices(ratios, k=len(ratios)))[len(ratios) // 2] for _ in range(2000)
    )
    tail = int(len(medians) * (1 - confidence) / 2)
    return sorted(ratios)[len(ratios) // 2], medians[tail], medians[-1 - tail]
