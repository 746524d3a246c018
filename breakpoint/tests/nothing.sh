#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# nothing.sh INCLUDE TESTS OUTPUT CC CXX: with HEDDLE_NO_BREAKPOINTS a program full of breakpoints
# has the machine code of the same program without them, once optimised.
set -eu
include=$1 tests=$2 output=$3 cc=$4 cxx=$5
mkdir -p "$output"

# compare LANGUAGE-FILE COMPILER FLAGS...
compare() {
  file=$1
  shift
  for kind in WITH WITHOUT; do
    "$@" -Wall -Wextra -Wpedantic -Werror -I"$include" -DHEDDLE_NO_BREAKPOINTS -D"$kind" -S \
      "$tests/$file" -o - | grep -vE '^\s*\.(file|ident|loc|addrsig)|^#' |
      sed 's/\.L[A-Z]*[0-9]*/.L/g' >"$output/$kind.s"  # labels are numbered, not code
  done
  cmp "$output/WITH.s" "$output/WITHOUT.s" || { diff "$output/WITH.s" "$output/WITHOUT.s"; exit 1; }
}
compare nothing.cpp "$cxx" -std=c++17 -O2
compare nothing.c "$cc" -std=c11 -O2
compare nothing.c "$cc" -std=c11 -O1

# The test itself: without the macro the two differ.
"$cc" -std=c11 -O2 -I"$include" -DWITH -S "$tests/nothing.c" -o "$output/live.s"
grep -q heddle "$output/live.s"
