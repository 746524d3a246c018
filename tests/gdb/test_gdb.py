#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`heddle replay RUN --gdb -- -batch …` on failing runs of the corpus."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOOLS = None


class Workshop:
    """A failing run of each of four programs, found once."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.environment = {**os.environ, "HEDDLE_DIR": str(self.directory / "runs")}
        self.update = self.find("lost_update")
        self.deadlock = self.find("lock_order_deadlock")
        self.buffered = self.find("dekker_tso", "--memory-model", "tso")
        self.wakes = self.find("which_waiter", source=HERE / "which_waiter.c")

    def heddle(self, *arguments):
        return subprocess.run([TOOLS / "heddle", *map(str, arguments)], cwd=self.directory,
                              env=self.environment, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)

    def find(self, name, *flags, source=None):
        subprocess.run([TOOLS / "heddle-cc", "-g", "-O1", "-pthread",
                        source or ROOT / "bugs" / name / "buggy.c", "-o", name],
                       cwd=self.directory, check=True)
        result = self.heddle("explore", "--json", *flags, "--", f"./{name}").stdout
        return json.loads(result[result.index("{"):])["run"]

    def gdb(self, run, *commands):
        arguments = [word for command in commands for word in ("-ex", command)]
        return self.heddle("replay", run, "--gdb", "--", "-batch", *arguments).stdout

    def events(self, run):
        """The events as `heddle show` has them."""
        return self.heddle("show", run, "--events").stdout


class Gdb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.shop = Workshop(cls.temporary.name)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def update(self, *commands):
        return self.shop.gdb(self.shop.update, *commands)

    def count_of_events(self):
        text = self.shop.heddle("show", "--json", self.shop.update).stdout
        return json.loads(text)["events"]

    def positions(self, said):
        return [int(number) for number in re.findall(r"^Before event (\d+)", said, re.M)]

    def test_starts_before_the_first_event(self):
        self.assertEqual(self.positions(self.update()), [0])

    def test_next_event_passes_every_event(self):
        count = self.count_of_events()
        said = self.update(*["heddle next-event"] * (count - 1))
        self.assertEqual(self.positions(said), list(range(count)), said)

    def test_threads_are_visible_and_named(self):
        said = self.update("heddle goto 5", "info threads")
        self.assertRegex(said, r'LWP \d+\) "t0"')
        self.assertRegex(said, r'LWP \d+\) "t0\.1"')

    def test_goto_and_back(self):
        said = self.update("heddle goto 6", "heddle back", "heddle back 3", "heddle goto 7")
        self.assertEqual(self.positions(said), [0, 6, 5, 2, 7], said)
        what = re.findall(r"^Before event \d+: (.*)", said, re.M)
        again = self.update("heddle goto 7", "heddle goto 2")
        self.assertIn(f"Before event 7: {what[-1]}", again)
        self.assertIn(f"Before event 2: {what[3]}", again)

    def test_what_the_program_sees_is_the_same_after_going_back(self):
        look = "printf \"hits %ld at %p, seen by %s\\n\", hits, &hits, \"me\""
        said = self.update("heddle goto 8", look, "heddle goto 3", "heddle goto 8", look)
        lines = re.findall(r"^hits .*", said, re.M)
        self.assertEqual(len(lines), 2, said)
        self.assertEqual(lines[0], lines[1])

    def test_stops_in_the_source_of_the_program(self):
        said = self.update("heddle goto 6", "info frame", "list")
        self.assertRegex(said, r"buggy\.c")
        self.assertNotRegex(said, r"No symbol table")

    def test_runs_to_the_failure_and_back_from_it(self):
        said = self.update("continue", "heddle back 2", "heddle where")
        self.assertIn("SIGABRT", said)
        self.assertEqual(self.positions(said)[1], self.count_of_events() - 2, said)

    def test_works_with_breakpoints(self):
        said = self.update("break record_hit", "continue", "heddle where", "continue",
                           "heddle goto 1", "continue")
        self.assertEqual(len(re.findall(r"^Thread .* hit Breakpoint 1|^Breakpoint 1, ", said,
                                        re.M)), 3, said)

    def test_works_with_watchpoints(self):
        said = self.update("watch -l hits", "continue", "continue", "heddle goto 1", "continue")
        self.assertEqual(said.count("Old value = 0"), 2, said)
        self.assertIn("New value = 1", said)

    def test_events_and_lanes_show_where_the_program_is(self):
        said = self.update("heddle goto 4", "heddle events", "heddle lanes", "heddle events 0 2")
        marked = re.findall(r"^=>\s+(\d+)", said, re.M)
        self.assertEqual(marked, ["4", "4"], said)

    def test_whatif_takes_the_other_choice(self):
        # The second reader goes on only when the first has written: nothing is lost.
        before = next(number for number in range(2, self.count_of_events())
                      if "reads hits" in self.update(f"heddle events {number} 1"))
        said = self.update(f"heddle goto {before}", "heddle whatif", "heddle goto 3")
        self.assertRegex(said, r"t0(\.1)? goes on instead")
        self.assertIn("exited normally", said)
        self.assertEqual(self.positions(said)[-1], 3, said)

    def test_whatif_where_there_is_no_choice(self):
        self.assertIn("no other thread can go on here", self.update("heddle whatif"))
        self.assertIn("t7 cannot go on here", self.update("heddle goto 4", "heddle whatif t7"))

    def event(self, run, phrase):
        """The number of the first event of that description."""
        said = self.shop.gdb(run, "heddle events 0 1000")
        return int(re.search(rf"^(?:=>)? *(\d+)  \S+ {phrase}", said, re.M)[1])

    def test_whatif_makes_a_pending_store_visible(self):
        look = self.event(self.shop.buffered, r"reads wants")
        said = self.shop.gdb(self.shop.buffered, f"heddle goto {look}", "heddle whatif t9",
                             "heddle whatif t0.1~ 7", "heddle whatif t0.1~")
        self.assertIn("t0.1~ has 1 pending store(s) that could be next, numbered from 0", said)
        self.assertIn("A store of t0.1 becomes visible here.", said)
        self.assertIn("exited normally", said)  # that this one was late is the whole bug

    def test_whatif_chooses_another_waiter(self):
        signal = self.event(self.shop.wakes, r"signals go, wakes t0\.2")
        said = self.shop.gdb(self.shop.wakes, "heddle whatif value 0", f"heddle goto {signal}",
                             "heddle whatif value", "heddle whatif value 2",
                             "heddle whatif value 0", f"heddle goto {signal}", "continue")
        self.assertIn("nothing but threads is chosen here", said)
        self.assertEqual(said.count("the run took 1 of 2; the others: 0"), 2, said)
        other, _, recorded = said.partition("0 is taken instead of 1.")[2].partition("Before event")
        self.assertIn("exited normally", other)
        self.assertIn("SIGABRT", recorded)

    def test_stops_where_a_deadlock_is(self):
        said = self.shop.gdb(self.shop.deadlock, "continue", "info threads", "heddle where",
                             "heddle back")
        self.assertEqual(said.count("threads wait for each other in a cycle"), 2, said)
        self.assertRegex(said, r'"t0\.1".*')
        self.assertEqual(len(self.positions(said)), 2, said)

    def test_goes_back_over_events_of_flushers(self):
        said = self.shop.gdb(self.shop.buffered, "heddle goto 10", *["heddle back"] * 5)
        back = self.positions(said)[1:]
        self.assertGreaterEqual(len(back), 5, said)
        self.assertEqual(back, sorted(set(back), reverse=True), said)

    def test_bad_input(self):
        said = self.update("heddle goto x", "heddle goto 100000", "heddle next-event y")
        self.assertIn("a number is needed, not 'x'", said)
        self.assertIn("events, 0 to", said)
        self.assertIn("a number is needed, not 'y'", said)
        result = self.shop.heddle("replay", self.shop.update, "--gdb", "--json")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(self.shop.heddle("replay", self.shop.update, "--", "-batch").returncode, 2)
        self.assertEqual(self.shop.heddle("replay", "r999", "--gdb").returncode, 2)

    def test_the_output_of_the_program_is_shown(self):
        self.assertRegex(self.update("continue"), r"\| .*Assertion `hits")


if __name__ == "__main__":
    TOOLS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
