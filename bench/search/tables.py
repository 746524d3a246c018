# SPDX-License-Identifier: Apache-2.0
"""The tables of the search section, from counts: {program: {budget, strategy: [[first failing
schedule or null, schedules, seconds] for each seed]}}."""

import math
import random
import statistics

STRATEGIES = ["random", "pct", "pos", "urw", "surw", "guided", "rare", "chess", "delay", "portfolio"]
SINGLE = [name for name in STRATEGIES if name != "portfolio"]


def tries(runs):
    """A run that was cut off counts as the schedules it tried: the truth is more."""
    return [first if first else max(schedules, 1) for first, schedules, _ in runs]


def mean(runs):
    return statistics.fmean(tries(runs))


def interval(values):
    draw = random.Random(1)
    means = sorted(statistics.fmean(draw.choices(values, k=len(values))) for _ in range(1000))
    return means[25], means[974]


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def cell(runs):
    if not runs:
        return "-"
    values = tries(runs)
    found = sum(first is not None for first, _, _ in runs)
    if found == 0:
        return f"none in {max(schedules for _, schedules, _ in runs)}"
    low, high = interval(values)
    text = f"{number(statistics.fmean(values))} [{number(low)}, {number(high)}]"
    return text if found == len(runs) else f"> {text} ({found}/{len(runs)})"


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def found_always(runs):
    return all(first for first, _, _ in runs)


def write_programs(counts):
    print("| program | budget | " + " | ".join(STRATEGIES) + " |")
    print("|---|---" + "|---" * len(STRATEGIES) + "|")
    for label, row in sorted(counts.items()):
        cells = [cell(row.get(name, [])) for name in STRATEGIES]
        print(f"| {label} | {row['budget']} | " + " | ".join(cells) + " |")


def write_summary(counts):
    complete = {label: row for label, row in counts.items()
                if all(row.get(name) for name in STRATEGIES)}
    if not complete:
        return
    means = {name: {label: mean(row[name]) for label, row in complete.items()}
             for name in STRATEGIES}
    best_of = {label: min(means[name][label] for name in SINGLE) for label in complete}
    print(f"\nOver the {len(complete)} rows in which every strategy was measured:\n")
    print("| strategy | schedules, geometric mean | found in every seed | ratio to the best single "
          "strategy of each row: geometric mean, worst | rows above 3 | seconds to a failure, "
          "geometric mean |")
    print("|---|---|---|---|---|---|")
    for name in STRATEGIES:
        ratios = {label: means[name][label] / best_of[label] for label in complete}
        worst = max(ratios, key=ratios.get)
        seconds = [max(1e-4, statistics.fmean(run[2] for run in row[name]))
                   for row in complete.values()]
        print(f"| {name} | {geometric_mean(means[name].values()):.1f} | "
              f"{sum(found_always(row[name]) for row in complete.values())} of {len(complete)} | "
              f"{geometric_mean(ratios.values()):.2f}, {ratios[worst]:.1f} ({worst}) | "
              f"{sum(ratio > 3 for ratio in ratios.values())} | {geometric_mean(seconds):.3f} |")
    best = min(SINGLE, key=lambda name: geometric_mean(means[name].values()))
    ratio = geometric_mean(means["portfolio"].values()) / geometric_mean(means[best].values())
    print(f"\nThe portfolio against the best single strategy ({best}): {ratio:.2f} in schedules, "
          "geometric mean (goal: at most 1.0).")


def write(counts):
    print("## Search: schedules to the first failure\n")
    print("Mean over the seeds of the number of the first failing schedule, with its 95 % bootstrap "
          "interval. Runs cut off, by the budget of schedules or by `--time`, count as what they had "
          "tried and are marked: `> mean (found/seeds)`. Counts are exact and repeatable; seconds are wall time of "
          "a machine that did other things too. Raw counts: `bench/search/counts.json`. Programs that do not appear have not been "
          "measured.\n")
    write_programs(counts)
    write_summary(counts)
