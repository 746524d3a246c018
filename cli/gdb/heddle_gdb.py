# SPDX-License-Identifier: Apache-2.0
"""The commands of `heddle replay RUN --gdb` (docs/gdb.md).

A position N is the moment before event N: its thread is about to do it. The runtime stops there in
__heddle_debug_stop; the variables next to it (runtime/session/debugger.h) say where the execution is
and take orders. Going back is executing again: the schedule makes it the same execution, at the same
addresses.
"""

import json
import os
import re

import gdb

NEVER = 2**64 - 1
NO_THREAD = 0xFFFF
RUNTIME = "libheddle_rt"


class Session:
    """The recorded run, and what is known of the execution that follows it."""

    def __init__(self, directory):
        self.directory = directory
        with open(os.path.join(directory, "session.json"), encoding="utf-8") as file:
            self.__dict__.update(json.load(file))
        self.shown = {"output": 0, "error": 0}
        self.strayed = False  # whatif was used: events are no longer those of the run

    def new_output(self):
        """What the program has written since the last time, for people."""
        for stream, shown in self.shown.items():
            path = os.path.join(self.directory, stream)
            with open(path, "rb") as file:
                file.seek(shown)
                text = file.read()
            self.shown[stream] = shown + len(text)
            if text:
                yield text.decode(errors="replace")

    def start_over(self, stop_before):
        with open(os.path.join(self.directory, "stop-before"), "w", encoding="utf-8") as file:
            file.write(str(stop_before))
        self.shown = dict.fromkeys(self.shown, 0)
        self.strayed = False

    def event_text(self, number):
        if number >= len(self.events):
            return f"the end: {self.outcome}"
        thread, phrase, place = self.events[number]
        return f"{self.threads[thread]} {phrase}" + (f"  ({place})" if place else "")


session = Session(HEDDLE_SESSION)  # noqa: F821 (set by heddle)


# The variables of the runtime. It has no debug information: everything is read through casts.


def address_of(name):
    return f"((unsigned long *)&{name})"


def read_word(expression):
    return int(gdb.parse_and_eval(f"*{expression}"))


def write_word(name, value):
    gdb.execute(f"set var *{address_of(name)} = {value}ul", to_string=True)


def is_alive():
    return gdb.selected_inferior().pid != 0 and bool(gdb.selected_inferior().threads())


def position():
    """Events so far, or None when nothing runs."""
    if not is_alive():
        return None
    try:
        where = read_word(address_of("__heddle_debug_position"))
        return read_word(f"((unsigned long *){where})") if where else None
    except gdb.error:
        return None


def require_position():
    here = position()
    if here is None:
        raise gdb.GdbError("the program is not running; heddle goto N starts it again")
    return here


def ending():
    """Why the runtime is about to end the run, or None."""
    where = read_word(address_of("__heddle_debug_ending"))
    return gdb.Value(where).cast(gdb.lookup_type("char").pointer()).string() if where else None


def thread_handles():
    """The index in the run of each pthread_t."""
    handles = {}
    for index in range(len(session.threads)):
        handle = read_word(f"({address_of('__heddle_debug_threads')} + {index})")
        if handle:
            handles[handle] = index
    return handles


def name_threads():
    """Gives gdb's threads the names they have in the run: t0, t0.1 ..."""
    try:
        handles = thread_handles()
        selected = gdb.selected_thread()
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            # glibc's pthread_t is the thread pointer; needs no thread library to be read.
            index = handles.get(int(gdb.parse_and_eval("$fs_base")) & NEVER)
            if index is not None:
                thread.name = session.threads[index]
        if selected is not None:
            selected.switch()
    except gdb.error:
        pass  # before the runtime is there


class StopBreakpoint(gdb.Breakpoint):
    """Where the runtime stops for us."""

    def __init__(self):
        super().__init__("__heddle_debug_stop", internal=True)
        self.silent = True


stop_breakpoint = None


def on_new_objfile(event):
    """The runtime is there: from now on it can be stopped in, also in further executions."""
    global stop_breakpoint
    if stop_breakpoint is None and RUNTIME in (event.new_objfile.filename or ""):
        stop_breakpoint = StopBreakpoint()


gdb.events.new_objfile.connect(on_new_objfile)


def at_our_stop():
    if not is_alive():
        return False
    frame = gdb.newest_frame()
    return frame.name() == "__heddle_debug_stop"


def select_program_frame():
    """The innermost frame of the program itself."""
    frame = gdb.newest_frame()
    while frame is not None and RUNTIME in (gdb.solib_name(frame.pc()) or ""):
        frame = frame.older()
    if frame is not None:
        frame.select()


def show_output():
    for text in session.new_output():
        gdb.write("".join(f"| {line}\n" for line in text.splitlines()))


def show_position():
    """Where the execution is, in one line and with the source line below."""
    here = position()
    if here is None:
        gdb.write("The program is not running.\n")
        return
    why = ending()
    if why:
        gdb.write(f"After event {here - 1}: {why}.\n")
    elif session.strayed:
        gdb.write(f"Before event {here} of another run than {session.run}.\n")
    else:
        gdb.write(f"Before event {here}: {session.event_text(here)}\n")
    if at_our_stop():
        select_program_frame()
        gdb.execute("frame")


def disarm():
    if is_alive():
        write_word("__heddle_debug_stop_at", NEVER)


moving = False  # one of our commands lets the program go on, and will say where it stopped


def go_on(command):
    """Lets the program run by a command of gdb; returns what gdb said."""
    global moving
    moving = True
    try:
        return gdb.execute(command, to_string=True)
    finally:
        moving = False


def report_stop(said):
    """After the program has gone on: says where it is now; what gdb said if that was not our doing."""
    show_output()
    if not is_alive():
        gdb.write(said)
        gdb.write(f"The run is over ({session.outcome}).\n" if not session.strayed
                  else "That other run is over.\n")
        return
    name_threads()
    if at_our_stop():
        disarm()
        show_position()
    else:
        gdb.write(said)


def go_on_to(number):
    write_word("__heddle_debug_stop_at", number)
    report_stop(go_on("continue"))


def execute_again(number):
    """Executes again up to the position. What the user watches does not stop it on the way."""
    session.start_over(number)
    paused = [b for b in (gdb.breakpoints() or ()) if b.is_valid() and b.enabled and b.number > 0]
    for breakpoint in paused:
        breakpoint.enabled = False
    try:
        said = go_on("run")
    finally:
        for breakpoint in paused:
            if breakpoint.is_valid():  # a watchpoint of a local variable ends with its frame
                breakpoint.enabled = True
    return said


def start_over(number):
    report_stop(execute_again(number))


def go_back(number, here):
    """To the position, or to one before it: nothing stops within an operation of several events, nor
    before the event of a flusher, which is no thread."""
    said = execute_again(number)
    while number > 0 and (position() or 0) >= here:
        number -= 1
        said = execute_again(number)
    report_stop(said)


def go_to(number):
    here = position()
    if number < 0:
        raise gdb.GdbError("events are numbered from 0")
    if not session.strayed and number > len(session.events):
        raise gdb.GdbError(f"{session.run} has {len(session.events)} events, 0 to "
                           f"{len(session.events) - 1}")
    if here is None or session.strayed or number < here or ending():
        start_over(number)
    elif number == here and at_our_stop():
        show_position()
    else:
        go_on_to(number)


def parse_number(text, default=None):
    text = text.strip()
    if not text and default is not None:
        return default
    if not re.fullmatch(r"\d+", text):
        raise gdb.GdbError(f"a number is needed, not '{text}'")
    return int(text)


class Heddle(gdb.Command):
    """Moving in a replayed run by its events; see docs/gdb.md.

Position N is the moment before event N. Breakpoints and watchpoints work as ever."""

    def __init__(self):
        super().__init__("heddle", gdb.COMMAND_RUNNING, prefix=True)


class Command(gdb.Command):
    def __init__(self):
        super().__init__("heddle " + self.name, gdb.COMMAND_RUNNING)


class Start(Command):
    """Begin the run: stop before its first event."""

    name = "start"

    def invoke(self, argument, from_tty):
        start_over(0)


class Where(Command):
    """Say before which event the program is."""

    name = "where"

    def invoke(self, argument, from_tty):
        require_position()
        show_position()


class NextEvent(Command):
    """heddle next-event [COUNT]: go on to before the next event, whichever thread does it."""

    name = "next-event"

    def invoke(self, argument, from_tty):
        go_on_to(require_position() + max(1, parse_number(argument, 1)))


class Goto(Command):
    """heddle goto N: go to before event N, forwards or backwards."""

    name = "goto"

    def invoke(self, argument, from_tty):
        go_to(parse_number(argument))


class Back(Command):
    """heddle back [COUNT]: go back to before the previous event, by executing again."""

    name = "back"

    def invoke(self, argument, from_tty):
        here = position()
        if here is None:
            here = len(session.events)
        if session.strayed:
            raise gdb.GdbError("this is another run than the recorded one; heddle goto N returns")
        go_back(max(0, here - parse_number(argument, 1)), here)


class Events(Command):
    """heddle events [FIRST [COUNT]]: list events of the run; without arguments those around here."""

    name = "events"

    def invoke(self, argument, from_tty):
        words = argument.split()
        here = None if session.strayed else position()
        first = parse_number(words[0]) if words else max(0, (here or 0) - 5)
        count = parse_number(words[1]) if len(words) > 1 else 11
        for number in range(first, min(first + count, len(session.events))):
            gdb.write(f"{'=>' if number == here else '  '} {number:4d}  "
                      f"{session.event_text(number)}\n")
        if first + count > len(session.events):
            gdb.write(f"{'=>' if here == len(session.events) else '  '}       "
                      f"{session.event_text(len(session.events))}\n")


class Lanes(Command):
    """Show the run with its threads side by side, and where the program is in it."""

    name = "lanes"

    def invoke(self, argument, from_tty):
        here = None if session.strayed else position()
        for line in session.lanes.splitlines():
            number = re.match(r" *(\d+)  ", line)
            is_here = number is not None and int(number[1]) == here
            gdb.write(f"{'=>' if is_here else '  '} {line}\n")


class WhatIf(Command):
    """heddle whatif [THREAD]: let another thread go on here instead, and then run freely.
heddle whatif BUFFER [K]: make a pending store of that store buffer (t0.1~) visible here: the K-th.
heddle whatif value K: let this operation choose otherwise, as which of several waiters it wakes.

Without a name, if there are several, says what could be done. The run goes on without
preemptions to its end, or to a breakpoint; heddle goto N returns to the recorded run."""

    name = "whatif"

    def choices(self):
        """The thread or store buffer that could go on instead, by name: index, number of stores."""
        current = thread_handles().get(int(gdb.parse_and_eval("$fs_base")) & NEVER)
        found = {}
        for index, path in enumerate(session.threads):
            word = read_word(f"({address_of('__heddle_debug_enabled')} + {index // 64})")
            if word >> (index % 64) & 1 and index != current:
                stores = read_word(f"({address_of('__heddle_debug_choices')} + {index})")
                found[path] = (index, stores)
        return found

    def whatif_value(self, words):
        here = position()
        if session.strayed or str(here) not in session.values:
            raise gdb.GdbError("nothing but threads is chosen here")
        taken, bound = session.values[str(here)]
        others = ", ".join(str(k) for k in range(bound) if k != taken)
        if not words or parse_number(words[0]) == taken or parse_number(words[0]) >= bound:
            raise gdb.GdbError(f"the run took {taken} of {bound}; the others: {others}")
        write_word("__heddle_debug_value", parse_number(words[0]))
        return f"{words[0]} is taken instead of {taken}.\n"

    def whatif_other(self, words):
        choices = self.choices()
        if not choices:
            raise gdb.GdbError("no other thread can go on here")
        if not words and len(choices) > 1:
            raise gdb.GdbError("which one: " + ", ".join(choices))
        name = words[0] if words else next(iter(choices))
        if name not in choices:
            raise gdb.GdbError(f"{name} cannot go on here; who can: " + ", ".join(choices))
        index, stores = choices[name]
        store = parse_number(words[1] if len(words) > 1 else "", 0)
        if len(words) > 1 and store >= stores:
            raise gdb.GdbError(f"{name} has {stores} pending store(s) that could be next, numbered "
                               "from 0" if stores else f"{name} is a thread, no store buffer")
        write_word("__heddle_debug_other", index)
        if not stores:
            return f"{name} goes on instead.\n"
        write_word("__heddle_debug_value", store if stores > 1 else NEVER)
        return f"A store of {name[:-1]} becomes visible here.\n"

    def invoke(self, argument, from_tty):
        require_position()
        if not at_our_stop() or ending():
            raise gdb.GdbError("the program is not before an event; heddle next-event goes to one")
        words = argument.split()
        if words[:1] == ["value"]:
            said = self.whatif_value(words[1:])
        else:
            said = self.whatif_other(words)
        session.strayed = True
        gdb.write(said)
        report_stop(go_on("continue"))


Heddle()
for command in (Start, Where, NextEvent, Goto, Back, Events, Lanes, WhatIf):
    command()


def on_stop(event):
    """Also after gdb's own commands."""
    if moving:
        return
    name_threads()
    show_output()
    if at_our_stop():  # the runtime is about to end the run
        show_position()


gdb.events.stop.connect(on_stop)
