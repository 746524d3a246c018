#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The probability formula of the paper's section 3 against a measured sweep of T and M.

formula.py FORMULA_BENCH SVG [-n RUNS]   prints a Markdown table, writes the plot
"""

import argparse
import math
import pathlib
import subprocess

from statistics_of_runs import wilson

STEPS, MATCHING, STEP_US = 500, 2, 200
PAUSES = (1, 3, 10, 30, 100, 300)
VISITS = (2, 8, 32)
COLOURS = ("#1b6ca8", "#c0392b", "#2e7d32")


def log_choose(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def predicted(visits, pause):
    """1 - C(N+MT-M-mT, m) / C(N+MT-M, m), the paper's lower bound for the hit."""
    slots = STEPS + visits * pause - visits
    free = slots - MATCHING * pause
    if free < MATCHING:
        return 1.0
    return 1 - math.exp(log_choose(free, MATCHING) - log_choose(slots, MATCHING))


def measure(bench, runs):
    rows = []
    for visits in VISITS:
        for pause in PAUSES:
            arguments = (STEPS, MATCHING, visits, pause, STEP_US, runs, 1)
            hits = int(subprocess.run([bench, *map(str, arguments)], check=True,
                                      capture_output=True, text=True).stdout)
            rows.append((visits, pause, hits))
    return rows


def plot(rows, runs):
    """The sweep as an SVG: lines are the formula, points with bars the measurement."""
    width, height, left, bottom = 640, 420, 60, 50

    def x(pause):
        return left + math.log10(pause) / math.log10(PAUSES[-1]) * (width - left - 20)

    def y(probability):
        return 20 + (1 - probability) * (height - bottom - 20)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for tenth in range(0, 11, 2):
        at = y(tenth / 10)
        out.append(f'<line x1="{left}" x2="{width - 20}" y1="{at:.1f}" y2="{at:.1f}" '
                   'stroke="#ddd"/>')
        out.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{tenth / 10}</text>')
    for pause in PAUSES:
        out.append(f'<text x="{x(pause):.1f}" y="{height - bottom + 18}" '
                   f'text-anchor="middle">{pause}</text>')
    out.append(f'<text x="{(left + width) / 2}" y="{height - 10}" text-anchor="middle">'
               f'pause T in steps (N = {STEPS}, m = {MATCHING})</text>')
    out.append(f'<text transform="translate(16 {height / 2}) rotate(-90)" text-anchor="middle">'
               'probability of a hit</text>')
    for index, visits in enumerate(VISITS):
        colour = COLOURS[index]
        # Dense points: a straight line between the measured T would be a wrong curve.
        fine = [PAUSES[-1] ** (i / 80) for i in range(81)]
        points = " ".join(f"{x(t):.1f},{y(predicted(visits, t)):.1f}" for t in fine)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}"/>')
        for _, pause, hits in (row for row in rows if row[0] == visits):
            low, high = wilson(hits, runs)
            at = x(pause) + (index - 1) * 4
            out.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y(low):.1f}" y2="{y(high):.1f}" '
                       f'stroke="{colour}"/>')
            out.append(f'<circle cx="{at:.1f}" cy="{y(hits / runs):.1f}" r="3.5" '
                       f'fill="{colour}"/>')
        legend = 36 + index * 18
        out.append(f'<circle cx="{left + 16}" cy="{legend}" r="3.5" fill="{colour}"/>')
        out.append(f'<text x="{left + 26}" y="{legend + 4}">M = {visits}: line formula, '
                   'points measured</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench")
    parser.add_argument("svg", type=pathlib.Path)
    parser.add_argument("-n", "--runs", type=int, default=200)
    arguments = parser.parse_args()
    rows = measure(arguments.bench, arguments.runs)
    arguments.svg.write_text(plot(rows, arguments.runs))
    print(f"Two threads of N = {STEPS} steps of {STEP_US} us, m = {MATCHING} of M visits match, each "
          f"visit pauses T steps; {arguments.runs} runs each, seed 1. The formula is the paper's "
          f"lower bound; plot: {arguments.svg.name}.\n")
    print("| M | T | formula | measured | 95 % interval |\n|---|---|---|---|---|")
    for visits, pause, hits in rows:
        low, high = wilson(hits, arguments.runs)
        print(f"| {visits} | {pause} | {predicted(visits, pause):.3f} | "
              f"{hits / arguments.runs:.3f} | {low:.3f}-{high:.3f} |")


if __name__ == "__main__":
    main()
