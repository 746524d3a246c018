#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_install.py CMAKE BUILD: installs Heddle and uses it as another project would: by
find_package, by the toolchain file, by pkg-config, and by its compilers where they were moved to."""

import os
import pathlib
import subprocess
import sys
import tempfile

cmake, build = sys.argv[1:]

PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(sample C CXX)
find_package(Heddle 0.1 REQUIRED)
add_library(part STATIC part.c)
set_target_properties(part PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
add_executable(sample main.cpp)
target_link_libraries(sample PRIVATE Heddle::breakpoint part)
file(WRITE ${CMAKE_BINARY_DIR}/compilers "${Heddle_C_COMPILER}\\n${Heddle_CXX_COMPILER}\\n")
"""
MAIN = """
#include <heddle/breakpoint.h>
#include <cstdio>
int shared;
extern "C" int part();
int main() { std::puts("installed"); return shared + part(); }
"""
# Objects of this one are archived for link-time optimisation.
PART = "int part(void) { return 0; }\n"


def must(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


with tempfile.TemporaryDirectory() as work:
    os.environ |= {"HEDDLE_CACHE": f"{work}/cache", "HEDDLE_DIR": f"{work}/runs"}
    os.environ.pop("HEDDLE_LIB", None)
    must(cmake, "--install", build, "--prefix", f"{work}/first")
    os.rename(f"{work}/first", f"{work}/moved")
    prefix = f"{work}/moved"
    source = pathlib.Path(work, "source")
    source.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT)
    (source / "main.cpp").write_text(MAIN)
    (source / "part.c").write_text(PART)
    # Nothing that variants are linked with is left behind.
    parts = {file.name for file in pathlib.Path(build, "lib").iterdir() if file.is_file()}
    missing = parts - {file.name for file in pathlib.Path(prefix, "lib").iterdir()}
    assert not missing, missing

    tree = source / "build"
    must(cmake, "-S", source, "-B", tree, f"-DCMAKE_PREFIX_PATH={prefix}",
         "--toolchain", f"{prefix}/lib/cmake/Heddle/heddle-toolchain.cmake")
    must(cmake, "--build", tree)
    for line in (tree / "compilers").read_text().splitlines():
        assert os.access(line, os.X_OK), line
    assert must(f"{tree}/sample") == "installed\n"
    assert "installed" in must(f"{prefix}/bin/heddle", "run", "--", f"{tree}/sample")

    environment = os.environ | {"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
    cxx = must("pkg-config", "--variable=cxx", "heddle", env=environment).strip()
    flags = must("pkg-config", "--cflags", "heddle", env=environment).split()
    must(cxx, *flags, "-x", "c++", f"{source}/main.cpp",
         "-x", "c", f"{source}/part.c", "-o", f"{work}/by_pkg_config", "-pthread")
    assert must(f"{work}/by_pkg_config") == "installed\n"
    assert "installed" in must(f"{prefix}/bin/heddle", "run", "--", f"{work}/by_pkg_config")
