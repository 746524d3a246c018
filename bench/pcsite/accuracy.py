# SPDX-License-Identifier: Apache-2.0
"""How often an address leads to the right block of the program.

The witness is the program itself: in the variant production+marks each block begins by storing its
number in a variable, and nothing in the line table belongs to that store. The program is executed
instruction by instruction; of every other instruction the block that its address leads to, by the
line table, is compared with the block that was entered last, by the stores."""

import array
import bisect
import collections
import json
import os
import pathlib
import re
import struct
import subprocess

LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")
MARK = re.compile(r"^\$(-?(?:0x)?[0-9a-f]+), (-?(?:0x)?[0-9a-f]*)\(%rip\).*#\s+0x([0-9a-f]+)")
PLACE = re.compile(r"\(%rip\).*# 0x([0-9a-f]+)")
GAP = (1 << 64) - 1
KINDS = ("memory", "call", "branch")


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def read_only_data(program):
    """The addresses of .rodata."""
    for line in output("llvm-readelf-19", "-S", "-W", program).splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 5 and words[1] == ".rodata":
            return range(int(words[3], 16), int(words[3], 16) + int(words[5], 16))
    return range(0)


class Code:
    """What the program's machine code says, without its line table."""

    def __init__(self, program):
        self.symbols, objects = {}, []
        for line in output("llvm-nm-19", "-S", program).splitlines():
            words = line.split()
            if len(words) >= 3:
                self.symbols[words[-1]] = int(words[0], 16)
            if len(words) == 4 and words[2] in "rR":
                objects.append((int(words[0], 16), int(words[1], 16)))
        constants = read_only_data(program)

        def is_made_up(operands):
            """A number that the compiler put beside the code: in no variable of the program."""
            found = PLACE.search(operands)
            place = int(found.group(1), 16) if found else None
            return place in constants and not any(begin <= place < begin + size
                                                  for begin, size in objects)
        mark = self.symbols["__heddle_mark"]
        self.kinds, self.marks, self.returns, self.calls = {}, {}, set(), {}
        previous_call = None
        text = output("llvm-objdump-19", "-d", "--no-show-raw-insn", "-j", ".text", program)
        for line in re.sub(r"\n\s+# ", " # ", text).splitlines():  # a second remark has its own line
            found = LINE.match(line)
            if not found:
                continue
            address, name, operands = int(found.group(1), 16), found.group(2), found.group(3)
            if previous_call is not None:
                self.calls[previous_call] = address
            previous_call = None
            stored = MARK.match(operands) if name == "movl" else None
            if stored and int(stored.group(3), 16) == mark:
                self.marks[address] = int(stored.group(1), 0)
            elif name.startswith("call"):
                self.kinds[address] = "call"
                previous_call = address
            elif name.startswith("ret"):
                self.returns.add(address)
            elif name.startswith("j") and not name.startswith("jmp"):
                self.kinds[address] = "branch"
            # Registers kept on the stack, and constants, belong to no instruction of the program.
            elif "(" in operands and not name.startswith(("lea", "nop", "prefetch", "data16")) \
                    and not re.search(r"\(%r[sb]p", operands) and not is_made_up(operands):
                self.kinds[address] = "memory"
        addresses = [*self.kinds, *self.marks, *self.returns]
        self.begin, self.end = min(addresses), max(addresses) + 1


def places(heddle, program, addresses):
    """(symbol, block) of each address by the line table, or None."""
    found = {}
    addresses = sorted(addresses)
    for i in range(0, len(addresses), 2000):
        words = [word for address in addresses[i:i + 2000] for word in ("--pc", hex(address))]
        shown = json.loads(output(heddle, "show", "--json", "--sites", program, *words))
        for place in shown["addresses"]:
            found[place["address"]] = ((place["symbol"], place["block"])
                                       if place["instruction"] is not None else None)
    return found


def blocks_of_marks(program, scratch):
    """(symbol, block) of each mark, which is the number of the block's first instruction: from the
    program's table of functions and blocks (abi/site_record.h)."""
    file = pathlib.Path(scratch) / "table"
    output("llvm-objcopy-19", "--dump-section", f"heddle_sites={file}", program, "/dev/null")
    table = file.read_bytes()
    header = struct.unpack_from("<8I", table)
    functions, blocks, loops, sites, frames = header[2:7]
    at_functions = 32
    at_blocks = at_functions + 8 * functions
    at_strings = at_blocks + 8 * blocks + 16 * loops + 28 * sites + 16 * frames
    result = {}
    firsts = []
    for i in range(functions):
        symbol, first = struct.unpack_from("<2I", table, at_functions + 8 * i)
        end = table.index(b"\0", at_strings + symbol)
        firsts.append((first, table[at_strings + symbol:end].decode()))
    for i in range(blocks):
        instruction, _ = struct.unpack_from("<2I", table, at_blocks + 8 * i)
        first, symbol = firsts[bisect.bisect_right(firsts, (i, "\x7f")) - 1]
        result[instruction] = (symbol, i - first)
    return result


class Thread:
    def __init__(self):
        self.mark = None
        self.callers = []
        self.pending = None


def steps(log, code):
    """(address, mark entered last) for each step, calls and returns followed for every thread."""
    threads = collections.defaultdict(Thread)
    for word in log:
        if word == GAP:
            threads.clear()
            continue
        number, address = word >> 48, word & (1 << 48) - 1
        thread = threads[number]
        if thread.pending is not None:
            call, mark = thread.pending
            thread.pending = None
            # Not back at once: it went into another function of the program.
            if address != code.calls.get(call):
                thread.callers.append((code.calls.get(call), mark))
        while thread.callers and address == thread.callers[-1][0]:
            thread.mark = thread.callers.pop()[1]
        if address in code.marks:
            thread.mark = code.marks[address]
            continue
        yield address, thread.mark
        if address in code.returns and not thread.callers:
            thread.mark = None  # the caller was entered before the log began
        if code.kinds.get(address) == "call":
            thread.pending = (address, thread.mark)


def measure(tools, program, limit=60_000, arguments=(), *, scratch):
    """{kind: [right, elsewhere, nowhere]}: instructions of the program that were executed, each
    counted once, by what its address leads to most often."""
    tools = pathlib.Path(tools)
    code = Code(program)
    log_file = pathlib.Path(scratch) / "steps"
    subprocess.run([tools / "bench_stepper", hex(code.symbols["main"]), hex(code.begin),
                    hex(code.end), str(limit), log_file, program, *arguments], check=True)
    log = array.array("Q")
    log.frombytes(log_file.read_bytes())
    os.remove(log_file)
    seen = collections.defaultdict(collections.Counter)
    for address, mark in steps(log, code):
        if address in code.kinds and mark is not None:
            seen[address][mark] += 1
    heddle = tools / "heddle"
    found = places(heddle, program, seen)
    marks = blocks_of_marks(program, log_file.parent)
    result = {kind: [0, 0, 0] for kind in KINDS}
    wrong = []
    for address, counts in seen.items():
        row = result[code.kinds[address]]
        right = sum(count for mark, count in counts.items() if marks[mark] == found[address])
        if found[address] is None:
            row[2] += 1
        elif 2 * right >= sum(counts.values()):
            row[0] += 1
        else:
            row[1] += 1
        if 2 * right < sum(counts.values()):
            wrong.append((hex(address), code.kinds[address], found[address],
                          [marks[mark] for mark, _ in counts.most_common(2)]))
    return result, wrong
