#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# single_header.sh PYTHON BREAKPOINT_DIR OUTPUT CXX CC: builds and runs examples with the headers made
# single files.
set -eu
python=$1 here=$2 output=$3 cxx=$4 cc=$5
mkdir -p "$output/heddle"
"$python" "$here/single_header.py" "$here/../include/heddle/breakpoint.h" >"$output/heddle/breakpoint.h"
"$python" "$here/single_header.py" "$here/../include/heddle/breakpoint_c.h" \
  >"$output/heddle/breakpoint_c.h"
flags="-Wall -Wextra -Wpedantic -Werror -pthread -I$output"
# shellcheck disable=SC2086  # flags are separate words
"$cxx" -std=c++17 $flags "$here/examples/bug_report.cpp" -o "$output/bug_report"
# shellcheck disable=SC2086
"$cxx" -std=c++17 $flags -DHEDDLE_NO_BREAKPOINTS "$here/examples/bug_report.cpp" -o "$output/none"
# shellcheck disable=SC2086
"$cc" -std=c11 $flags "$here/examples/counter.c" -o "$output/counter"
"$output/bug_report" | grep "append threw"
"$output/counter" | grep "1 of 2"
