# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import re
import subprocess
import sys
import unittest

from workshop import BUGS, TOOLS, Workshop

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/pcsite"))
import accuracy  # noqa: E402

LIST = """struct node { struct node* next; long value; };
__attribute__((noinline)) long sum(struct node* list, long mask) {
  long total = 0;
  for (struct node* n = list; n; n = n->next) total += n->value ^ mask;
  return total;
}
struct node nodes[2] = {{nodes + 1, 3}, {0, 4}};
int main(int count, char** words) { return (int)sum(nodes, count) + (words == 0); }
"""
SUM = """
long sum(const long* at, long more) {
  return *at + more;
}
long (*volatile how)(const long*, long) = sum;
int main(int count, char** words) {
  (void)words;
  long first = count;
  return (int)how(&first, count) - 2;
}
"""
CALL = re.compile(r"^\s*([0-9a-f]+):\s+callq\s+0x[0-9a-f]+ <heddle\.front_load[1248]>")
SITE = re.compile(r"movl\s+\$(0x[0-9a-f]+), %esi")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def hook_calls(variant):
    """(address, site) of calls of hooks that take the site as their second argument, read from the
    machine code: what the line table says has no part in it. Calls whose site is set in another
    block are left out."""
    site = None
    for line in output("llvm-objdump-19", "-d", "--no-show-raw-insn", variant).splitlines():
        setting = SITE.search(line)
        if setting:
            site = int(setting.group(1), 16)
        call = CALL.match(line)
        if call and site is not None:
            yield int(call.group(1), 16), site
        if line.endswith(">:") or re.search(r"\s(j\w+|callq)\s", line):
            site = None


class Addresses(Workshop):
    def test_machine_code_leads_back_to_its_site(self):
        for source in (BUGS / "stress_driver" / "buggy.c", BUGS / "cache_eviction" / "buggy.cpp"):
            compiler = "heddle-c++" if source.suffix == ".cpp" else "heddle-cc"
            program = self.build(source, compiler=compiler)
            variant = self.json("show", "--sites", program, "--pc", "0")["variant"]
            truth = list(hook_calls(variant))
            self.assertGreater(len(truth), 5)
            arguments = [word for address, _ in truth for word in ("--pc", hex(address))]
            found = self.json("show", "--sites", program, *arguments)["addresses"]
            right = sum(site in [known["site"] for known in place.get("sites", [])]
                        and any(begin <= address < end for begin, end in place["ranges"])
                        for (address, site), place in zip(truth, found))
            self.assertGreaterEqual(right / len(truth), 0.97, (source, right, len(truth)))

    def test_stepping_agrees_with_the_line_table(self):
        """A floor for one program; bench/pcsite has the figures."""
        source = ROOT / "bench/variants/kernels/text.c"
        subprocess.run([TOOLS / "heddle-cc", "-g", "-O2", source, "-o", self.work / "text"],
                       check=True, env={**os.environ, "HEDDLE_VARIANT": "production+marks"})
        result, wrong = accuracy.measure(TOOLS, self.work / "text", limit=50_000,
                                         scratch=self.work)
        for kind, floor in (("memory", 0.9), ("call", 0.95), ("branch", 0.85)):
            right, elsewhere, nowhere = result[kind]
            self.assertGreater(right, 0, (kind, wrong))
            self.assertGreaterEqual(right / (right + elsewhere + nowhere), floor, (kind, wrong))

    def test_a_load_that_is_an_operand(self):
        """It has no machine code of its own: the address is that of what uses it."""
        (self.work / "sum.c").write_text(SUM)
        subprocess.run([TOOLS / "heddle-cc", "-g", "-O2", "sum.c", "-o", "sum"], cwd=self.work,
                       check=True, env={**os.environ, "HEDDLE_VARIANT": "production"})
        code = output("llvm-objdump-19", "-d", "--no-show-raw-insn", "--disassemble-symbols=sum",
                      self.work / "sum")
        address = re.search(r"([0-9a-f]+):\s+addq\s+\(%rdi\)", code).group(1)
        found = self.json("show", "--sites", "./sum", "--pc", address)["addresses"][0]
        self.assertEqual([(site["kind"], site["frames"][0]["line"]) for site in found["sites"]],
                         [("load", 3)])

    def test_a_load_that_was_taken_out_of_its_user(self):
        """As an operand it had no machine code; what it has now is of nobody in the line table."""
        (self.work / "list.c").write_text(LIST)
        subprocess.run([TOOLS / "heddle-cc", "-g", "-O2", "list.c", "-o", "list"], cwd=self.work,
                       check=True, env={**os.environ, "HEDDLE_VARIANT": "production"})
        code = output("llvm-objdump-19", "-d", "--no-show-raw-insn", "--disassemble-symbols=sum",
                      self.work / "list")
        load = re.search(r"([0-9a-f]+):\s+movq\s+0x8\((%r\w+)\), (%r\w+)\n.*xorq\s+%r\w+, \3", code)
        found = self.json("show", "--sites", "./list", "--pc", load.group(1))["addresses"][0]
        self.assertEqual([(site["kind"], site["frames"][0]["line"]) for site in found["sites"]
                          if site["kind"] != "block"], [("load", 4)])

    def test_what_is_no_address_is_refused(self):
        program = self.build(BUGS / "lost_update" / "buggy.c")
        self.refused("show", "--sites", program, "--pc", "main", says=["'main' is not an address"])
        self.refused("show", "--pc", "0x10", says=["--sites"])
        nowhere = self.json("show", "--sites", program, "--pc", "0")["addresses"][0]
        self.assertIsNone(nowhere["instruction"])


if __name__ == "__main__":
    unittest.main()
