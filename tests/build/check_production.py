#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_production.py HEDDLE BIN: HEDDLE_VARIANT=production make links a program that runs by itself,
whose loops a debugger can count from a core at -O2, and of which other variants can be derived; what
other variants do that are linked so."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

heddle, compilers = sys.argv[1:]

LIST = """
struct node { struct node *next; int value; };
int sum_until(struct node *list, int stop);
"""
# The loop has no counter of its own; it is in another file and is inlined into main.
SUM = """
#include <stdlib.h>
#include "list.h"
int sum_until(struct node *list, int stop) {
  int sum = 0;
  while (list) {
    if (list->value == stop) abort();
    sum += list->value;
    list = list->next;
  }
  return sum;
}
"""
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "list.h"
int main(int argc, char **argv) {
  struct node *list = 0;
  for (int i = 20; i > 0; --i) {
    struct node *node = malloc(sizeof *node);
    node->next = list;
    node->value = i;
    list = node;
  }
  printf("%d\\n", sum_until(list, argc > 1 ? atoi(argv[1]) : -1));
}
"""
# Loops that are described rather than counted: a pointer that moves up, and one that moves down two
# at a time. The failure is a call that never returns, and (with a null pointer) an access.
SCAN = """
#include <stdlib.h>
static int *volatile nowhere;
__attribute__((noinline)) int scan_up(const int *from, int stop) {
  int sum = 0;
  for (const int *p = from;; ++p) {
    if (*p == stop) abort();
    if (*p < 0) return sum;
    sum += *p;
  }
}
__attribute__((noinline)) int scan_down(const int *from, int stop, int *where) {
  int sum = 0;
  for (const int *p = from; *p >= 0; p -= 2) {
    if (*p == stop) *where = sum;
    sum += *p;
  }
  return sum;
}
int main(int argc, char **argv) {
  int *digits = malloc(64 * sizeof *digits);
  for (int i = 0; i < 64; ++i) digits[i] = i;
  digits[0] = digits[63] = -1;
  const int stop = argc > 2 ? atoi(argv[2]) : 1000;
  return (argc > 1 && *argv[1] == 'd' ? scan_down(digits + 60, stop, nowhere)
                                      : scan_up(digits + 5, stop)) == 0;
}
"""
# The same in memory that lies where it does in every run: there the pointer itself tells the round.
STATIC_SCAN = SCAN.replace("int *digits = malloc(64 * sizeof *digits);", "static int digits[64];")
# Loops with nothing to go by, read where the program just happens to be: at an access in the middle
# (of a list of lists: both rounds), and in a call that returns. Then one whose value overflows.
LISTS = """
#include <stdlib.h>
struct node { struct node *next; long value; };
struct list { struct list *next; struct node *nodes; };
static long *volatile nowhere;
__attribute__((noinline)) void visit(long value, long stop) { if (value == stop) *nowhere = value; }
__attribute__((noinline)) long walk(struct list *lists, long stop) {
  long sum = 0;
  for (struct list *list = lists; list; list = list->next)
    for (struct node *node = list->nodes; node; node = node->next) {
      if (node->value == stop) *nowhere = sum;
      sum += node->value * 3;
    }
  return sum;
}
__attribute__((noinline)) long visit_all(struct node *node, long stop) {
  long sum = 0;
  for (; node; node = node->next) {
    visit(node->value, stop);
    sum ^= node->value;
  }
  return sum;
}
__attribute__((noinline)) unsigned mix(const unsigned *key, unsigned stop) {
  __attribute__((nodebug)) unsigned sum = 0;
  unsigned mixed = 1, left = *(volatile const unsigned *)key;
  do {
    sum += 0x9e3779b9u;
    mixed = (mixed << 4) + (key[0] ^ sum);
    if (sum == stop) *nowhere = mixed;
  } while ((mixed >> 3 ^ mixed) != left);
  return mixed;
}
int main(int argc, char **argv) {
  struct list *lists = 0;
  const long stop = argc > 2 ? atol(argv[2]) : -1;
  for (int i = 4; i >= 0; --i) {
    struct list *list = malloc(sizeof *list);
    list->next = lists, list->nodes = 0, lists = list;
    for (int j = 9; j >= 0; --j) {
      struct node *node = malloc(sizeof *node);
      node->next = list->nodes, node->value = 10 * i + j, list->nodes = node;
    }
  }
  static unsigned key = 7;
  if (argc > 1 && *argv[1] == 'm') return mix(&key, 0x9e3779b9u * (unsigned)stop) == 0;
  return (argc > 1 && *argv[1] == 'v' ? visit_all(lists->nodes, stop) : walk(lists, stop)) == 0;
}
"""
# Each node has its position as its value: `node` says which round it is, or has already moved on.
STEPS = """
#include <stdlib.h>
struct node { struct node *next; long value; };
__attribute__((noinline)) long walk(struct node *list, long key) {
  long sum = 0;
  for (struct node *node = list; node; node = node->next) sum += node->value ^ key;
  return sum;
}
__attribute__((noinline)) long skip(struct node *list, long key) {
  long sum = 0;
  for (struct node *node = list; node; node = node->next) {
    if (node->value & 1) continue;
    if (node->value == key) break;
    sum += node->value ^ key;
  }
  return sum;
}
int main(int argc, char **argv) {
  struct node *list = 0;
  for (long i = 24; i >= 0; --i) {
    struct node *node = malloc(sizeof *node);
    node->next = list, node->value = i, list = node;
  }
  return walk(list, argc) + skip(list, 100 + argc) == 0;
}
"""
STEPPING = """
import gdb

def variables(frame):
    block, values = frame.block(), {}
    while block.function is None or not block.superblock.is_global:
        values |= {symbol.name[:13]: symbol.value(frame) for symbol in block if symbol.is_variable}
        if block.function is not None:
            break
        block = block.superblock
    return {name: value for name, value in values.items() if not value.is_optimized_out}

for function in ("walk", "skip"):
    gdb.Breakpoint(function, temporary=True)
    gdb.execute("run", to_string=True)
    counts = {"right": 0, "wrong": 0, "out": 0}
    while (frame := gdb.selected_frame()).name() == function:
        found = variables(frame)
        if "__heddle_loop" not in found or not int(found.get("node", 0)):
            counts["out"] += 1
        else:
            position = int(found["node"].dereference()["value"])
            is_right = int(found["__heddle_loop"]) in (position, position - 1)
            counts["right" if is_right else "wrong"] += 1
        gdb.execute("stepi", to_string=True)
    print(f"found {function}: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    gdb.execute("kill")
"""
MAKEFILE = """
CFLAGS = -O2
walk: main.o sum.o
\t$(CC) $(CFLAGS) $^ -o $@
"""

# Two threads that must run at the same time: each waits for the other by looking at memory.
MEET = """
#include <pthread.h>
#include <stdio.h>
static volatile int here, there;
static void *other(void *unused) {
  there = 1;
  while (!here) {}
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  while (!there) {}
  here = 1;
  pthread_join(thread, NULL);
  puts("met");
}
"""


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def build(name, source):
    pathlib.Path(f"{name}.c").write_text(source)
    built = run([os.environ["CC"], "-O2", f"{name}.c", "-o", name],
                env=os.environ | {"HEDDLE_VARIANT": "production"})
    assert built.returncode == 0, built.stderr


def frame_of_failure(program, arguments, function):
    told = run(["gdb", "-q", "-batch", "-ex", f"run {arguments}", "-ex", "bt full", program]).stdout
    stack = told[told.index("\n#0 "):]
    frame = stack[stack.index(f"{function} ("):]
    return frame[:frame.index("\n#")]


def check_rounds(name, source, cases):
    """Each case: the program's arguments, the function in which it fails, its loops' rounds there."""
    build(name, source)
    for arguments, function, rounds in cases:
        frame = frame_of_failure(f"./{name}", arguments, function)
        counts = re.findall(r"__heddle_loop_\d+ = (.*)", frame)
        assert sorted(counts) == sorted(map(str, rounds)), (
            f"{arguments}: {counts}, expected {rounds}, in\n{frame}")


def check_each_instruction():
    """The round is right wherever in a loop the program stands, also where several rounds are laid
    out one behind the other and counted at once."""
    build("steps", STEPS)
    pathlib.Path("steps.py").write_text(STEPPING)
    told = run(["gdb", "-q", "-batch", "-x", "steps.py", "./steps"])
    found = re.findall(r"^found (\w+): (\d+) right, (\d+) wrong, (\d+) out$", told.stdout, re.MULTILINE)
    assert [name for name, *_ in found] == ["walk", "skip"], told.stdout + told.stderr
    for name, right, wrong, out in found:
        # What is before and behind the loop has no round.
        assert int(wrong) == 0 and int(right) > 120 and int(out) < 16, (name, right, wrong, out)


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    os.environ |= {
        "HEDDLE_DIR": f"{work}/runs",
        "HEDDLE_CACHE": f"{work}/cache",
        "CC": f"{compilers}/heddle-cc",
    }
    for name, text in {"list.h": LIST, "sum.c": SUM, "main.c": MAIN, "Makefile": MAKEFILE}.items():
        pathlib.Path(name).write_text(text)
    made = run(["make"], env=os.environ | {"HEDDLE_VARIANT": "production"})
    assert made.returncode == 0, made.stderr
    assert run(["./walk"]).stdout == "210\n"
    needed = run(["readelf", "-d", "walk"]).stdout
    assert "heddle" not in needed, needed

    # A core of the failure: the list's seventh element was reached in the seventh round, number 6.
    core = run(["gdb", "-q", "-batch", "-ex", "run 7", "-ex", "generate-core-file core", "./walk"])
    assert pathlib.Path("core").exists(), core.stdout + core.stderr
    told = run(["gdb", "-q", "-batch", "-ex", "bt full", "./walk", "core"]).stdout
    counts = re.findall(r"__heddle_loop_\d+ = (\d+)", told)
    assert counts == ["6"], f"{counts} in\n{told}"

    # Rounds that follow from a pointer: of a failed check, and of a crash in the middle of the loop.
    # Rounds are those of the loop as it is linked: the compiler has put its first check before it.
    check_rounds("scan", SCAN, (("u 12", "scan_up", [12 - 5 - 1]), ("u 5", "scan_up", [0]),
                                ("d 50", "scan_down", [(60 - 50) // 2])))
    assert run(["./scan", "u"]).returncode == 0 and run(["./scan", "d"]).returncode == 0
    check_rounds("static", STATIC_SCAN, (("u 12", "scan_up", [12 - 5 - 1]), ("d 50", "scan_down", [])))
    frame = frame_of_failure("./static", "d 50", "scan_down")
    assert re.search(r"p = .*<.*digits.*\+200>", frame), frame  # the 50th of them
    check_rounds("lists", LISTS, (("w 37", "walk", [3, 7]), ("w 0", "walk", [0, 0]),
                                  ("v 6", "visit_all", [6]), ("m 29", "mix", [28])))
    assert run(["./lists", "w"]).returncode == 0 and run(["./lists", "v"]).returncode == 0
    check_each_instruction()

    # It is the program now: variants are derived from it, with the same names of sites. The loop
    # touches nothing that others could, so its rounds are told only together with its blocks.
    steps = run([heddle, "run", "--json", "--steps", "loops,blocks", "--", "./walk"])
    assert steps.returncode == 0 and '"steps"' in steps.stdout, steps.stderr
    assert "sum_until" in run([heddle, "show", "--events"]).stdout

    # Other variants, and what is none. Static programs need no runtime in production.
    for variant, flags in {"full+loops": [], "path": [], "production": ["-static"]}.items():
        env = os.environ | {"HEDDLE_VARIANT": variant}
        built = run([env["CC"], "-O2", *flags, "main.c", "sum.c", "-o", "other"], env=env)
        assert built.returncode == 0, (variant, built.stderr)
        assert run(["./other"]).stdout == "210\n", variant
    # Nobody controls a path variant that is started by itself.
    pathlib.Path("meet.c").write_text(MEET)
    env = os.environ | {"HEDDLE_VARIANT": "path"}
    built = run([env["CC"], "-O2", "-pthread", "meet.c", "-o", "meet"], env=env)
    assert built.returncode == 0, built.stderr
    assert run(["./meet"], timeout=60).stdout == "met\n"

    env = os.environ | {"HEDDLE_VARIANT": "nonsense"}
    refused = run([env["CC"], "main.c", "sum.c", "-o", "other"], env=env)
    assert refused.returncode != 0 and "there is no variant 'nonsense'" in refused.stderr, refused
    env["HEDDLE_VARIANT"] = "full"
    refused = run([env["CC"], "-static", "main.c", "sum.c", "-o", "other"], env=env)
    assert refused.returncode != 0 and "linked statically" in refused.stderr, refused
