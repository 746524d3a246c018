#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a program of the bug corpus with the breakpoints of its .pins file. See README.md."""

import pathlib
import re
import sys

RULE = re.compile(r"(?:(buggy|fixed) )?(before|after|replace) `(.*)`(?: ([+-] ?\d+))?$")

CONTROLLED_SOME = "controlled: some"


class PinError(Exception):
    pass


def parse(text):
    """The headers to include and the rules: (version or None, place, anchor, distance, lines)."""
    includes, rules = [], []
    for line in text.splitlines():
        rule = RULE.match(line)
        if rule:
            *where, distance = rule.groups()
            rules.append((*where, int((distance or "0").replace(" ", "")), []))
        elif line.startswith("include "):
            includes.append(line.split(maxsplit=1)[1])
        elif line.startswith("  ") and rules:
            rules[-1][4].append(line)
        elif line and not line.startswith("#") and line != CONTROLLED_SOME:
            raise PinError(f"not understood: {line}")
    return includes, rules


def pin(source, version, pins):
    """The source with the pins for this version ("buggy" or "fixed")."""
    includes, rules = parse(pins)
    lines = source.splitlines()
    for only, place, anchor, distance, insert in rules:
        if only not in (None, version):
            continue
        found = [i for i, line in enumerate(lines) if anchor in line]
        if len(found) != 1:
            raise PinError(f"`{anchor}` is in {len(found)} lines of the {version} version")
        at = found[0] + distance
        if place == "replace":
            lines[at : at + 1] = insert
        else:
            lines[at + (place == "after") : at + (place == "after")] = insert
    return "\n".join([f"#include <{header}>" for header in includes] + lines) + "\n"


def pins_of(path):
    return (pathlib.Path(__file__).parent / f"{pathlib.Path(path).parent.name}.pins").read_text()


def pin_file(path):
    path = pathlib.Path(path)
    return pin(path.read_text(), path.stem, pins_of(path))


def certain_under_control(path):
    """Whether every controlled run fails; if not, the scheduler still has a choice to make."""
    return CONTROLLED_SOME not in pins_of(path).splitlines()


if __name__ == "__main__":
    try:
        sys.stdout.write(pin_file(sys.argv[1]))
    except PinError as error:
        sys.exit(f"{sys.argv[1]}: {error}")
