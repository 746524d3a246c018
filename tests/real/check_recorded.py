#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real programs recorded as they run in parallel, and replayed under control.

    check_recorded.py TOOLS                 those of `make test`
    check_recorded.py TOOLS --only memcached

Where the sources cannot be had the exit status is 77, which ctest takes for "skipped"."""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import debian_sources  # noqa: E402
import kit as kits  # noqa: E402
from programs import PROGRAMS  # noqa: E402

# (program, job): flags of `heddle record`
RECORDED = {
    ("pbzip2", "compress"): (),
    ("pbzip2", "decompress"): (),
    ("zstd", "round trip"): ("--max-events", "20000000"),
    ("memcached", "loopback"): (),
}
FAST = ("pbzip2",)


def check(kit, program, job, flags):
    made = kit.product(program, job.program, "native")
    arguments, environment = kit.prepare(program, job)
    work = kit.work(program)
    # pbzip2 sends a signal to a thread that may not have come to wait for it yet, which is refused
    # (docs/record.md): where the machine is busy it is recorded again.
    for _ in range(5):
        ended = subprocess.run([kit.heddle, "record", "--json", "--keep-all", *flags, "--stdin",
                                work / "input", "--", made, *arguments], cwd=work, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, timeout=kits.BUILD_SECONDS)
        if "does not wait for signals" not in ended.stderr:
            break
    if ended.returncode != 0:
        raise kits.Failure(f"heddle record ended with {ended.returncode}: {ended.stdout[-1500:]}"
                           f"{ended.stderr[-1500:]}")
    found = json.loads(ended.stdout)
    output = pathlib.Path(environment["HEDDLE_DIR"]) / "runs" / found["run"] / "stdout"
    if not job.expects(output.read_bytes()):
        raise kits.Failure("its output is wrong")
    kit.replay(program, job, 3)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(FAST))
    arguments = parser.parse_args()
    chosen = [program for program in PROGRAMS if program.name in arguments.only.split(",")]
    kit = kits.Kit(arguments.tools.resolve(), debian_sources.home("HEDDLE_REAL", "heddle-real"))
    kit.fetch(chosen)
    wrong = []
    for program in chosen:
        for job in program.jobs:
            if (program.name, job.name) not in RECORDED:
                continue
            try:
                found = check(kit, program, job, RECORDED[program.name, job.name])
                print(f"{program.name}, {job.name}: yes ({found['log_bytes'] >> 10} KiB of log, "
                      f"{found['seconds']:.2f} s)", flush=True)
            except (kits.Failure, subprocess.SubprocessError, OSError) as problem:
                print(f"{program.name}, {job.name}: no: {problem}", flush=True)
                wrong.append(program.name)
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
