#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles one program and runs it: variant.sh INCLUDE SOURCE OUTPUT COMPILER FLAGS...
#   [--run LAUNCHER ARGS...]   run it under this command
#   [--expect TEXT]            it must fail and say TEXT
set -eu
include=$1 source=$2 output=$3 compiler=$4
shift 4
flags=
while [ $# -gt 0 ] && [ "$1" != --run ] && [ "$1" != --expect ]; do
  flags="$flags $1"
  shift
done
case "$source $flags" in
  *.cpp*-std=*) ;;
  *.cpp*) flags="$flags -std=c++17" ;;
esac
# shellcheck disable=SC2086  # flags are separate words
"$compiler" $flags -O1 -g -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$include" -pthread \
  "$source" -o "$output"
if [ "${1-}" = --expect ]; then
  if "$output" >"$output.log" 2>&1; then
    echo "it was to fail"
    exit 1
  fi
  grep -q "$2" "$output.log" || { cat "$output.log"; exit 1; }
  exit 0
fi
[ "${1-}" = --run ] && shift
exec "$@" "$output"
