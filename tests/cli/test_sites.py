# SPDX-License-Identifier: Apache-2.0
import subprocess
import unittest

from workshop import TOOLS, Workshop

NESTED = """
#include <stdlib.h>
static int table[4][4];
static const int weight[4] = {1, 2, 3, 4};
static inline void put(int i, int j) { table[i][j] = weight[j & 3]; }
int main(int argc, char** argv) {
  (void)argv;
  for (int i = 0; i < argc; ++i)
    for (int j = 0; j < argc; ++j) put(i, j);
  exit(table[0][0]);
}
"""


class Sites(Workshop):
    def test_a_site_tells_where_it_is(self):
        shown = self.json("show", "--sites", self.build(NESTED))
        self.assertEqual(shown["command"], "show")
        self.assertEqual(len({site["key"] for site in shown["sites"]}), len(shown["sites"]))
        store = next(site for site in shown["sites"] if site["kind"] == "store")
        self.assertEqual([(frame["function"], frame["line"]) for frame in store["frames"]],
                         [("put", 5), ("main", 9)])
        self.assertEqual(store["bytes"], 4)
        self.assertEqual(store["symbol"], "main")
        self.assertRegex(store["key"], r"^put\+0@main\.store\.[a-z]{4}$")
        self.assertEqual(store["sharing"], "shared")
        lines = {loop["loop"]: loop["line"] for loop in shown["loops"]}
        self.assertEqual([lines[loop] for loop in store["loops"]], [9, 8])
        constant = next(site for site in shown["sites"] if site["sharing"] == "constant")
        self.assertEqual(constant["frames"][0]["function"], "put")
        leaving = next(site for site in shown["sites"] if site["callee"] == "exit")
        self.assertEqual((leaving["loops"], leaving["sharing"]), ([], "-"))

    def test_inline_assembly_is_named_as_opaque(self):
        program = self.build("""
static long cells[2];
int main(void) {
  long x = 1;
  __asm__ volatile("incq %0" : "+m"(cells[1]));
  __asm__ volatile("incq %0" : "+r"(x));
  __asm__ volatile("" ::: "memory");
  return (int)(x + cells[1]);
}
""")
        sites = [site for site in self.json("show", "--sites", program)["sites"]
                 if site["sharing"] == "opaque"]
        self.assertEqual([(site["kind"], site["frames"][0]["line"]) for site in sites],
                         [("assembly", 5), ("assembly", 6)])

    def test_memory_is_named_after_the_call_that_allocated_it(self):
        program = self.build("""
#include <stdlib.h>
long *first, *second;
int main(int argc, char** argv) {
  int number = atoi(argv[0]);
  long* a = calloc(1, sizeof *a);
  long* b = calloc(1, sizeof *b);
  first = a;
  second = b;
  *first = number;
  *second = argc;
  return 0;
}
""")
        by_line = {site["frames"][0]["line"]: site["key"]
                   for site in self.json("show", "--sites", program)["sites"]
                   if site["callee"] == "calloc"}
        self.heddle("run", "--", program)
        shown = self.heddle("show", "latest", "--events").stdout
        self.assertIn(f"heap t0 #1 ({by_line[6]})", shown)
        self.assertIn(f"heap t0 #2 ({by_line[7]})", shown)

    def test_as_a_table(self):
        text = self.heddle("show", "--sites", self.build(NESTED)).stdout
        self.assertIn("prog.c:5", text)
        self.assertIn("< main prog.c:9", text)
        self.assertIn("not hooked", text)

    def test_a_shared_library_has_sites(self):
        (self.work / "counter.c").write_text("long hits;\nvoid hit(void) { ++hits; }\n")
        subprocess.run([TOOLS / "heddle-cc", "-g", "-O1", "-shared", "-fPIC", "counter.c", "-o",
                        "libcounter.so"], cwd=self.work, check=True)
        shown = self.json("show", "--sites", "./libcounter.so")
        self.assertIn(("load", "hit", 2), {(site["kind"], site["symbol"], site["frames"][0]["line"])
                                           for site in shown["sites"]})
        found = self.json("show", "--sites", "./libcounter.so", "--pc", "0")
        self.assertEqual(found["addresses"][0]["instruction"], None)

    def test_the_same_whether_or_not_there_is_a_variant_that_runs(self):
        program = self.build(NESTED)
        before = self.json("show", "--sites", program)
        self.heddle("run", "--", program, status=1)
        after = self.json("show", "--sites", program)
        self.assertEqual((before["sites"], before["loops"]), (after["sites"], after["loops"]))

    def test_a_program_without_sites_is_refused(self):
        program = self.build(NESTED, compiler="cc")
        self.refused("show", "--sites", program, says=["not built with heddle-cc", "CC=heddle-cc"])
        self.refused("show", "--sites", "./missing", says=["no program"])


if __name__ == "__main__":
    unittest.main()
