#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_docs.py PAGE ROOT: each code block after `<!-- from FILE -->` occurs in that file, so that
what a reader copies is what was compiled and run."""

import pathlib
import re
import sys

BLOCK = re.compile(r"<!-- from (\S+) -->\n```\w*\n(.*?)```", re.S)


def squeezed(text):
    """Indentation is the page's own."""
    return "\n".join(line.strip() for line in text.strip().splitlines())


page, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
text = re.sub(r"^> ?", "", page.read_text(), flags=re.M)  # a block may be inside a quotation
blocks = BLOCK.findall(text)
wrong = [name for name, code in blocks if squeezed(code) not in squeezed((root / name).read_text())]
for name in wrong:
    print(f"{page.name} shows something that is not in {name}")
if not blocks:
    print(f"{page.name} shows no example")
sys.exit(1 if wrong or not blocks else 0)
