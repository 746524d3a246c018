#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""single_header.py HEADER: prints the header with the parts it is made of, as one file to attach to
a bug report."""

import pathlib
import re
import sys

INCLUDE = re.compile(r'#include "(.*)"$')


def inlined(path, seen):
    lines = []
    for line in path.read_text().splitlines():
        include = INCLUDE.match(line)
        if not include:
            lines.append(line)
            # What stands in one branch of a condition is missing in the other.
            if line.startswith("#else"):
                seen.clear()
            continue
        part = (path.parent / include[1]).resolve()
        if part not in seen:  # each has an include guard; once is enough
            seen.add(part)
            lines += inlined(part, seen)
    return lines


print("\n".join(inlined(pathlib.Path(sys.argv[1]).resolve(), set())))
