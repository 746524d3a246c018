#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One shape of the litmus table, in all its versions and under every memory model: the table, the
enumerator of the operational models and an exhaustive search of the controlled program have to
agree, outcome by outcome. Called by ctest once for each tests/litmus/*.c."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import model

MODELS = ("sc", "tso", "pso")


def build(tools, source, version, work):
    program = work / version
    subprocess.run([tools / "heddle-cc", "-std=c17", "-O1", "-g", "-pthread", f"-DLITMUS_{version}",
                    source, "-o", program], check=True)
    return program


def collect(collector, program, name, shape):
    result = subprocess.run([collector, program, name, str(shape.bound), str(shape.random)],
                            stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout)


def compare(what, expected, actual):
    for missing in sorted(expected - actual):
        print(f"{what}: allowed but not seen: {missing}")
    for forbidden in sorted(actual - expected):
        print(f"{what}: forbidden but seen: {forbidden}")
    return expected == actual


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", type=pathlib.Path)
    parser.add_argument("--collector", type=pathlib.Path)
    parser.add_argument("--table-only", action="store_true", help="compare table and enumerator only")
    parser.add_argument("source", type=pathlib.Path)
    arguments = parser.parse_args()
    text = arguments.source.read_text()
    agree = True
    with tempfile.TemporaryDirectory() as work:
        for version in model.parse(text, "plain").allowed:
            shape = model.parse(text, version)
            program = None
            if not arguments.table_only:
                program = build(arguments.tools.resolve(), arguments.source.resolve(), version,
                                pathlib.Path(work))
            for name in MODELS:
                what = f"{arguments.source.stem} {version} {name}"
                expected = set(shape.allowed[version][name])
                agree &= compare(f"{what}, enumerated", expected, model.outcomes(shape, name))
                if program is None:
                    continue
                result = collect(arguments.collector.resolve(), program, name, shape)
                agree &= compare(what, expected, set(result["outcomes"]))
                print(f"{what}: {result['schedules']} schedules with at most {shape.bound} "
                      f"preemptions and {result['random_schedules']} random: {result['outcomes']}")
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
