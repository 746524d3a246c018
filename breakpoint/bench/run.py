#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All figures of concurrent breakpoints as a Markdown fragment on stdout.

run.py BUILD_DIR SVG [--quick]    BUILD_DIR is where CMake built breakpoint/bench
"""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def find(build, name):
    found = [path for path in build.rglob(name) if path.is_file()]
    if not found:
        sys.exit(f"{name} was not built below {build}")
    return found[0]


def cost(bench):
    """CPU time of a breakpoint that does nothing: the median of interleaved repetitions."""
    output = subprocess.run(
        [bench, "--benchmark_repetitions=9", "--benchmark_min_time=0.1",
         "--benchmark_enable_random_interleaving=true", "--benchmark_report_aggregates_only=true",
         "--benchmark_format=json"],
        check=True, capture_output=True, text=True).stdout
    by_name = {}
    for row in json.loads(output)["benchmarks"]:
        by_name.setdefault(row["run_name"], {})[row["aggregate_name"]] = row["cpu_time"]
    goals = {"BM_Disabled": 1, "BM_LocalPredicateFalse": 50, "BM_IgnoredArrival": 50,
             "BM_BoundReached": 50, "BM_WrongContext": 50}
    print("CPU time of one call, uncontended (Google Benchmark, median of 9 interleaved "
          "repetitions).\n")
    print("| call | ns | std. dev. | goal ns |\n|---|---|---|---|")
    for name, row in by_name.items():
        print(f"| {name.removeprefix('BM_')} | {row['median']:.2f} | {row['stddev']:.2f} | "
              f"{goals.get(name, '-')} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("svg", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="few runs: a check, not a figure")
    arguments = parser.parse_args()
    print("## Concurrent breakpoints\n\n### Cost of a breakpoint that does nothing\n")
    cost(find(arguments.build, "breakpoint_cost_bench"))
    print("\n### The probability formula\n", flush=True)
    subprocess.run([sys.executable, HERE / "formula.py",
                    find(arguments.build, "breakpoint_formula_bench"), arguments.svg,
                    "-n", "25" if arguments.quick else "200"], check=True)
    print("\n### The bug corpus\n", flush=True)
    subprocess.run([sys.executable, HERE / "corpus.py", "figures", arguments.build / "corpus-bench",
                    "-n", "10" if arguments.quick else "300",
                    "--pairs", "4" if arguments.quick else "30"], check=True)


if __name__ == "__main__":
    main()
