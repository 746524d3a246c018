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


def seconds_cell(runs):
    if not any(first for first, _, _ in runs):
        return "-"
    low, high = interval([1000 * seconds for _, _, seconds in runs])
    text = f"{number(1000 * statistics.fmean(run[2] for run in runs))} [{number(low)}, {number(high)}]"
    return text if found_always(runs) else f"> {text}"


def write_seconds(counts):
    print("\nMilliseconds until the first failure was there, of the same searches with one worker that "
          "had been started. These do depend on the machine and its load: strategies of one "
          "row were measured one after the other, so compare within a row.\n")
    print("| program | " + " | ".join(STRATEGIES) + " |")
    print("|---" + "|---" * len(STRATEGIES) + "|")
    for label, row in sorted(counts.items()):
        print(f"| {label} | " + " | ".join(seconds_cell(row.get(name, [])) for name in STRATEGIES)
              + " |")


def ratio_interval(complete, best):
    """95 % bootstrap interval, over seeds, of the portfolio's ratio to one single strategy."""
    draw = random.Random(1)

    def resampled(runs):
        return statistics.fmean(draw.choices(tries(runs), k=len(runs)))

    ratios = sorted(geometric_mean([resampled(row["portfolio"]) / resampled(row[best])
                                    for row in complete.values()]) for _ in range(400))
    return ratios[10], ratios[389]


MODELS = ["(sc)", "(tso)", "(pso)"]  # the weaker later


def first_models(rows):
    """Of each program the row of the strongest model under which it fails."""
    return {label: row for label, row in rows.items()
            if not any(label.replace(model, stronger) in rows
                       for i, model in enumerate(MODELS) if label.endswith(model)
                       for stronger in MODELS[:i])}


def ratios_to_best(rows):
    return {label: mean(row["portfolio"]) / min(mean(row[name]) for name in SINGLE)
            for label, row in rows.items()}


def write_summary(counts):
    measured = {label: row for label, row in counts.items()
                if all(row.get(name) for name in STRATEGIES)}
    complete = first_models(measured)
    if not complete:
        return
    means = {name: {label: mean(row[name]) for label, row in complete.items()}
             for name in STRATEGIES}
    best_of = {label: min(means[name][label] for name in SINGLE) for label in complete}
    print(f"\nOver the {len(complete)} programs, each under the strongest model under which it fails:\n")
    print("| strategy | schedules, geometric mean | found in every seed | ratio to the best single "
          "strategy of each row: geometric mean, worst | rows above 3 |")
    print("|---|---|---|---|---|")
    for name in STRATEGIES:
        ratios = {label: means[name][label] / best_of[label] for label in complete}
        worst = max(ratios, key=ratios.get)
        above = [label for label, ratio in ratios.items() if ratio > 3]
        named = f" ({', '.join(above)})" if 0 < len(above) <= 4 else ""
        print(f"| {name} | {geometric_mean(means[name].values()):.2f} | "
              f"{sum(found_always(row[name]) for row in complete.values())} of {len(complete)} | "
              f"{geometric_mean(ratios.values()):.2f}, {ratios[worst]:.1f} ({worst}) | "
              f"{len(above)}{named} |")
    best = min(SINGLE, key=lambda name: geometric_mean(means[name].values()))
    ratio = geometric_mean(means["portfolio"].values()) / geometric_mean(means[best].values())
    low, high = ratio_interval(complete, best)
    print(f"\nThe portfolio against the best single strategy ({best}): {ratio:.2f} [{low:.2f}, "
          f"{high:.2f}] in schedules, geometric mean (goal: at most 1.0). The portfolio's opening and "
          "weights were chosen on these programs: on others its lead may be smaller.")
    again = {label: row for label, row in measured.items() if label not in complete}
    if not again:
        return
    ratios = ratios_to_best(again)
    above = sorted((label for label in ratios if ratios[label] > 3), key=lambda label: -ratios[label])
    print(f"\nThe same programs under weaker models ({len(again)} rows in which every strategy was "
          f"measured): found in every seed in {sum(found_always(row['portfolio']) for row in again.values())}"
          f", {geometric_mean(ratios.values()):.2f} times the best single strategy of each row in "
          "geometric mean, more than 3 times in "
          + (", ".join(f"{label} ({ratios[label]:.1f})" for label in above) or "none") + ".")


# Mean schedules to the first failure as published: RFF and POS from the raw data of RFF's artifact
# (dylanjwolff/RFF, scripts/data-analysis/full-data.csv, power-coe-schedfuzz and pos-only-schedfuzz,
# 20 trials each), PERIOD as its authors reported it (prior_work.csv there).
PUBLISHED = [
    ("writers_reader (sc)", "reorder_3", "", "6", ""),
    ("writers_reader 10 (sc)", "reorder_10", "5.4", "27", "none in 15,000"),
    ("writers_reader 20 (sc)", "reorder_20", "", "39", ""),
    ("writers_reader 100 (sc)", "reorder_100", "5.4", "", "none in 2,100"),
    ("two_stage 10 (sc)", "twostage_20", "8.4", "", ""),
    ("two_stage 50 (sc)", "twostage_100", "43.4", "690", "none in 2,100"),
    ("work_stealing (sc)", "WorkStealQueue", "", "1661", ""),
    ("bounded_buffer (sc)", "boundedBuffer", "", "20", ""),
]


def write_published(counts):
    print("\nFamilies that were published with counts. The programs here have the shape of those "
          "named, not their code, so that only the order of magnitude can be compared.\n")
    print("| program | published as | RFF | PERIOD | POS | portfolio | guided | surw | pos |")
    print("|---|---|---|---|---|---|---|---|---|")
    for label, name, rff, period, pos in PUBLISHED:
        own = [cell(counts.get(label, {}).get(strategy, []))
               for strategy in ("portfolio", "guided", "surw", "pos")]
        print(f"| {label} | {name} | {rff or '-'} | {period or '-'} | {pos or '-'} | "
              + " | ".join(own) + " |")


def write(counts):
    print("## Search: schedules to the first failure\n")
    print("Mean over 20 seeds of the number of the first failing schedule, with its 95 % bootstrap "
          "interval. A single strategy is given up after 2,000 schedules or the program's budget, the "
          "portfolio after the budget; such runs count as what they had tried, although the truth is "
          "more, and are marked: `> mean (found/seeds)`. chess and delay do the same for every seed. "
          "Counts are exact and repeatable whatever the machine does. Raw counts: "
          "`bench/search/counts.json`; a dash, or a program that is missing: not measured.\n")
    write_programs(counts)
    write_summary(counts)
    write_published(counts)
    write_seconds(counts)
