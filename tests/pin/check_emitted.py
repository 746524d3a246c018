#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `heddle pin` writes for a project is built and run as a project would: the CTest test and
the GoogleTest test fail on the buggy program and pass on the fixed one. The patch is applied to the
buggy source; the fix is then merged into the patched tree, as a project would make it there."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from corpus_pin import ROOT, CorpusPin

PROJECT = """cmake_minimum_required(VERSION 3.18)
project(pinned NONE)
enable_testing()
include({pins}/buggy_pin.cmake)
"""


def run(*command, cwd, env=None):
    return subprocess.run(list(map(str, command)), cwd=cwd, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env={**os.environ, **(env or {})})


def ctest(program, version):
    """The CTest test, as CMake makes it, with the program of that version."""
    program.build(version)
    build = program.work / f"project-{version}"
    build.mkdir()
    (build / "CMakeLists.txt").write_text(PROJECT.format(pins=program.work / "pins"))
    path = {"PATH": f"{program.tools}:{os.environ['PATH']}"}
    configured = run("cmake", "-S", build, "-B", build / "out",
                     f"-DPINNED_PROGRAM={program.work / version}", cwd=build, env=path)
    assert configured.returncode == 0, configured.stdout
    result = run("ctest", "--test-dir", build / "out", "-V", cwd=build, env=path)
    assert "pin.buggy" in result.stdout, result.stdout
    return result


def googletest(program, version):
    """The GoogleTest test, with the patched program of that version; Heddle's tools take no part."""
    source = program.work / program.source("buggy").name
    source.write_text(program.source("buggy").read_text())
    patched = run("patch", "-p0", source, "pins/buggy.patch", cwd=program.work)
    assert patched.returncode == 0, patched.stdout
    if version == "fixed":
        merged = run("git", "merge-file", "--union", source, program.source("buggy"),
                     program.source("fixed"), cwd=program.work)
        assert merged.returncode == 0, merged.stdout
    cpp = source.suffix == ".cpp"
    target = program.work / f"{version}.patched"
    built = run("c++" if cpp else "cc", "-std=c++20" if cpp else "-std=gnu17", "-g", "-O1",
                "-pthread", f"-I{ROOT}/include", source, "-o", target, cwd=program.work)
    assert built.returncode == 0, built.stdout
    test = program.work / f"{version}_test"
    built = run("c++", "-std=c++17", "-pthread", f'-DPINNED_PROGRAM="{target}"',
                "pins/buggy_pin_test.cpp", "-lgtest", "-lgtest_main", "-o", test, cwd=program.work)
    assert built.returncode == 0, built.stdout
    return run(test, cwd=program.work)


def plain_copy(directory, copy):
    """The program without the remarks that only its buggy version has: a fix does not change them."""
    copy.mkdir()
    for source in pathlib.Path(directory).iterdir():
        (copy / source.name).write_text(re.sub(r"[ ]*// heddle: .*", "", source.read_text()))
    return copy


def main(tools, directory):
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch) / "work"
        work.mkdir()
        program = CorpusPin(tools, plain_copy(directory, pathlib.Path(scratch) / "program"), work)
        program.find()
        pinned = program.pin(5)
        assert pinned["outcome"] == "pinned", pinned
        buggy = ctest(program, "buggy")
        assert buggy.returncode != 0 and "still there" in buggy.stdout, buggy.stdout
        fixed = ctest(program, "fixed")
        assert fixed.returncode == 0, fixed.stdout
        buggy = googletest(program, "buggy")
        assert buggy.returncode != 0 and "still there" in buggy.stdout, buggy.stdout
        fixed = googletest(program, "fixed")
        assert fixed.returncode == 0, fixed.stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
