# SPDX-License-Identifier: Apache-2.0
# The two commands of the README, and what they are made of. CMake does the work.
.PHONY: all setup build demo test test-asan test-fuzz test-release test-conformance test-real lint tidy format bench clean

all: build

setup:
	@scripts/setup

build: setup
	@test -f build/build.ninja || cmake --preset release
	@cmake --build build

## Builds everything and shows one bug from run to result.
demo: build
	@scripts/demo

## Everything that must hold: style, sanitizers, a short fuzz run, and all tests.
test: lint tidy test-fuzz test-asan test-release

lint: setup
	@scripts/lint

## clang-tidy, on the build that compiles several files at a time: headers are most of the work.
tidy: setup
	@test -f build/asan-ubsan/build.ninja || cmake --preset asan-ubsan
	@scripts/tidy build/asan-ubsan

test-fuzz: setup
	@test -f build/fuzz/build.ninja || cmake --preset fuzz
	@cmake --build build/fuzz --target fuzzers
	ctest --test-dir build/fuzz -L fuzz --output-on-failure

test-asan: setup
	@test -f build/asan-ubsan/build.ninja || cmake --preset asan-ubsan
	@cmake --build build/asan-ubsan
	ctest --test-dir build/asan-ubsan -j 2 --output-on-failure -LE "slow|corpus"

test-release: build
	ctest --test-dir build -j 2 --output-on-failure

## All of glibc's tests of its threads that can be built outside its tree, under both carriers.
test-conformance: build
	@tests/conformance/check_conformance.py build/bin --all

## Real programs of Debian, built with heddle-cc: their own work in every variant and under control.
test-real: build
	@tests/real/check_real.py build/bin --all

format:
	@git ls-files '*.h' '*.cpp' '*.c' | grep -v '/sources/' | xargs clang-format-19 -i

bench: build
	@bench/run

clean:
	rm -rf build
