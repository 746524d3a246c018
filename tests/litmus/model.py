# SPDX-License-Identifier: Apache-2.0
"""Every outcome of a litmus program under the operational models of docs/memory-model.md.

Written from that page and not from the runtime: PSO is a queue for each location here, with the
order among stores kept by time stamps, where the runtime has one list. Reads the C source, and in
its comment the table:
  allowed   version (several that agree in one key) -> memory model -> outcomes
  bound     preemptions up to which the search is exhaustive; default 2
  random    random schedules besides, for outcomes that need more; default 300
"""

import collections
import json
import re

Statement = collections.namedtuple("Statement", "register operation arguments order")
Program = collections.namedtuple("Program", "threads observed allowed bound random")

COMMENT = re.compile(r"/\* litmus\n(.*?)\*/", re.S)
THREAD = re.compile(r"THREAD\((\d+),(.*?)\)\s*\n\n?(?=THREAD|OBSERVE|MAIN|$)", re.S)
STATEMENT = re.compile(r"(?:([ab]) = )?([A-Z_]+)\(([^()]*)\)")

# What ST, LD and the updates of each version mean.
STORES = {"plain": "relaxed", "relaxed": "relaxed", "acq_rel": "release", "seq_cst": "seq_cst"}


def parse(text, version):
    table = json.loads(COMMENT.search(text).group(1))
    code = COMMENT.sub("", text)
    threads = {}
    for match in THREAD.finditer(code):
        statements = []
        for part in match.group(2).split(";"):
            found = STATEMENT.fullmatch(part.strip())
            if not found:
                raise ValueError(f"cannot read '{part.strip()}'")
            register, operation, arguments = found.groups()
            order = STORES[version] if operation == "ST" else "release"
            names = [word.strip() for word in arguments.split(",") if word.strip()]
            statements.append(Statement(register, operation, tuple(names), order))
        threads[int(match.group(1))] = tuple(statements)
    if sorted(threads) != list(range(1, len(threads) + 1)):
        raise ValueError(f"threads {sorted(threads)}")
    observed = re.search(r"^OBSERVE\((.*)\)$", code, re.M).group(1)
    return Program([threads[n] for n in sorted(threads)],
                   re.findall(r"(A|B|FINAL)\((\w+)\)", observed),
                   {name: outcomes for names, outcomes in table["allowed"].items()
                    for name in names.split()}, table.get("bound", 2),
                   table.get("random", 300))


class Buffer:
    """A thread's pending stores: (location, value, stamp, release), and the stamps of its fences."""

    def __init__(self, entries=(), fences=(), stamp=0):
        self.entries, self.fences, self.stamp = entries, fences, stamp

    def key(self):
        return self.entries, self.fences

    def push(self, location, value, release):
        entry = (location, value, self.stamp, release)
        return Buffer(self.entries + (entry,), self.fences, self.stamp + 1)

    def fence(self):
        return Buffer(self.entries, self.fences + (self.stamp,), self.stamp + 1)

    def forward(self, location):
        own = [value for where, value, _, _ in self.entries if where == location]
        return own[-1] if own else None

    def leaving(self, model):
        """Which entries may become visible next."""
        if model == "tso":
            return self.entries[:1]
        queues = {}
        for entry in self.entries:
            queues.setdefault(entry[0], []).append(entry)
        return [queue[0] for queue in queues.values() if self.may_overtake(queue[0])]

    def may_overtake(self, entry):
        _, _, stamp, release = entry
        earlier = [other[2] for other in self.entries if other[2] < stamp]
        if release and earlier:
            return False
        return not any(before < fence < stamp for before in earlier for fence in self.fences)

    def without(self, entry):
        return Buffer(tuple(other for other in self.entries if other != entry), self.fences,
                      self.stamp)


class State:
    def __init__(self, positions, registers, memory, buffers):
        self.positions, self.registers = positions, registers
        self.memory, self.buffers = memory, buffers

    def key(self):
        return (self.positions, self.registers, tuple(sorted(self.memory.items())),
                tuple(buffer.key() for buffer in self.buffers))

    def replace(self, thread, position=None, register=None, memory=None, buffer=None):
        def changed(items, value):
            return items if value is None else items[:thread] + (value,) + items[thread + 1:]
        registers = self.registers
        if register is not None:
            registers = changed(registers, tuple(sorted((dict(registers[thread]) | register).items())))
        return State(changed(self.positions, position), registers,
                     self.memory if memory is None else self.memory | memory,
                     changed(self.buffers, buffer))


def flushes(state, thread, model):
    for entry in state.buffers[thread].leaving(model):
        yield state.replace(thread, memory={entry[0]: entry[1]},
                            buffer=state.buffers[thread].without(entry))


def step(program, state, thread, model):
    """The state after the thread's next statement; None where it has to wait for its buffer."""
    position = state.positions[thread]
    statement = program.threads[thread][position]
    buffer = state.buffers[thread]
    operation, arguments = statement.operation, statement.arguments
    after = position + 1
    if operation in ("LD", "LD_ACQ"):
        value = buffer.forward(arguments[0])
        if value is None:
            value = state.memory.get(arguments[0], 0)
        return state.replace(thread, after, {statement.register: value})
    if operation in ("ST", "ST_REL"):
        location, value = arguments[0], int(arguments[1])
        if model == "sc":
            return state.replace(thread, after, memory={location: value})
        if statement.order == "seq_cst":  # visible at once, after everything before it
            if buffer.entries:
                return None
            return state.replace(thread, after, memory={location: value})
        return state.replace(thread, after,
                             buffer=buffer.push(location, value, statement.order == "release"))
    if operation == "FENCE_ACQ":
        return state.replace(thread, after)
    if operation == "FENCE_REL":
        return state.replace(thread, after, buffer=buffer.fence())
    if buffer.entries:  # everything else drains
        return None
    if operation == "FENCE":
        return state.replace(thread, after)
    before = state.memory.get(arguments[0], 0)
    if operation == "ADD":
        value = before + int(arguments[1])
    elif operation == "XCHG":
        value = int(arguments[1])
    elif operation == "CAS":
        value = int(arguments[2]) if before == int(arguments[1]) else before
    else:
        raise ValueError(operation)
    register = {statement.register: before} if statement.register else None
    return state.replace(thread, after, register, {arguments[0]: value})


def outcomes(program, model):
    count = len(program.threads)
    start = State((0,) * count, ((),) * count, {}, (Buffer(),) * count)
    waiting, seen, found = [start], {start.key()}, set()
    while waiting:
        state = waiting.pop()
        followers = []
        for thread in range(count):
            if state.positions[thread] < len(program.threads[thread]):
                after = step(program, state, thread, model)
                if after is not None:
                    followers.append(after)
            followers.extend(flushes(state, thread, model))
        if not followers:
            found.add(observe(program, state))
        for follower in followers:
            if follower.key() not in seen:
                seen.add(follower.key())
                waiting.append(follower)
    return found


def observe(program, state):
    values = []
    for what, which in program.observed:
        if what == "FINAL":
            values.append(state.memory.get(which, 0))
        else:
            values.append(dict(state.registers[int(which) - 1]).get(what.lower(), 0))
    return " ".join(map(str, values))
