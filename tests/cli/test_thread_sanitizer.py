# SPDX-License-Identifier: Apache-2.0
"""Objects built with -fsanitize=thread by other compilers, linked by heddle's."""

import subprocess

import workshop

COMPILERS = {"clang": ("clang-19", "clang++-19"), "gcc": ("gcc", "g++")}

# Every kind of access an object can announce: plain, unaligned, ranges, virtual calls, atomics of
# all sizes. One unit, so that the compiler sees a constant sum only if each of them works.
ACCESSES = """
#include <atomic>
#include <cstring>
#include <thread>
struct Base { virtual ~Base() = default; virtual int value() { return 1; } };
struct Derived : Base { int value() override { return 2; } };
struct __attribute__((packed)) Packed { char pad; int number; long wide; };
struct Large { char bytes[40]; };
std::atomic<unsigned char> a8{1};
std::atomic<short> a16{1};
std::atomic<int> a32{1};
std::atomic<long> a64{1};
__extension__ typedef unsigned __int128 Wide;
alignas(16) Wide a128 = 1;
Packed packed{};
Large large{}, copy{};
void all() {
  a8.fetch_add(1); a16.fetch_sub(1); a32.fetch_or(6); a64.fetch_xor(3);
  a32.exchange(a32.load() & 7);
  long expected = 2;
  if (!a64.compare_exchange_strong(expected, 40)) a64.store(expected);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Wide before = __atomic_load_n(&a128, __ATOMIC_SEQ_CST);
  __atomic_compare_exchange_n(&a128, &before, before + 5, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  packed.number += 3; packed.wide += 4;
  std::memset(&large, 1, sizeof large);
  copy = large;
}
int main() {
  Base* object = new Derived;
  std::thread(all).join();
  int sum = a8 + a16 + a32 + int(a64) + int(__atomic_load_n(&a128, __ATOMIC_SEQ_CST)) +
            packed.number + int(packed.wide) + copy.bytes[39] + object->value();
  delete object;
  return sum == 2 + 0 + 7 + 40 + 6 + 3 + 4 + 1 + 2 ? 0 : sum;
}
"""


class ThreadSanitizerObjects(workshop.Workshop):
    def link(self, source, family, name, *flags):
        cpp = source.suffix == ".cpp"
        subprocess.run([COMPILERS[family][cpp], "-g", "-O1", "-w", *flags, "-fsanitize=thread", "-c",
                        source, "-o", self.work / f"{name}.o"], check=True)
        subprocess.run([workshop.TOOLS / ("heddle-c++" if cpp else "heddle-cc"),
                        "-fsanitize=thread", "-pthread", f"{name}.o", "-o", name, *flags],
                       cwd=self.work, check=True)
        return f"./{name}"

    def test_races_are_found_at_single_accesses(self):
        for family in COMPILERS:
            with self.subTest(family):
                program = self.link(workshop.BUGS / "lost_update" / "buggy.c", family, family)
                subprocess.run([program], cwd=self.work, check=True)  # natively, without Heddle
                found = self.json("explore", "--strategy", "random", "-n", 2000, "--", program, status=1)
                signature = found["failures"][0]["signature"]
                self.assertEqual((signature["kind"], signature["file"], signature["function"]),
                                 ("assert", "buggy.c", "main"))
                replay = self.json("replay", "-n", 5, found["run"])
                self.assertTrue(replay["reproduced"])
                events = self.heddle("show", found["run"], "--events").stdout
                self.assertIn("store hits = 1 (8 bytes) at buggy.c:19", events)
                kernel = self.json("explore", "--carrier", "kernel", "--strategy", "random",
                                   "-n", 200, "--", program, status=1)
                self.assertEqual(kernel["failures"][0]["signature"], signature)

    def test_every_kind_of_access_does_what_it_says(self):
        source = self.work / "accesses.cpp"
        source.write_text(ACCESSES)
        for family in COMPILERS:
            with self.subTest(family):
                program = self.link(source, family, family, "-mcx16")
                subprocess.run([program], cwd=self.work, check=True)
                result = self.json("explore", "-n", 50, "--check-determinism", "--", program)
                self.assertEqual(result["schedules"], 50)

    def test_silent_when_fixed(self):
        for family in COMPILERS:
            with self.subTest(family):
                program = self.link(workshop.BUGS / "refcount_uaf" / "fixed.c", family, family)
                self.json("explore", "-n", 300, "--check-determinism", "--", program)

    def test_other_objects_stay_instrumented(self):
        """One object by gcc, the other by heddle-cc: the race is between them."""
        (self.work / "count.c").write_text("long hits; void hit(void) { long seen = hits; hits = seen + 1; }\n")
        (self.work / "main.c").write_text("""
            #include <assert.h>
            #include <pthread.h>
            extern long hits; void hit(void);
            static void* other(void* p) { long seen = hits; hits = seen + 1; return p; }
            int main(void) { pthread_t t; pthread_create(&t, 0, other, 0); hit();
              pthread_join(t, 0); assert(hits == 2); return 0; }""")
        subprocess.run(["gcc", "-g", "-O1", "-fsanitize=thread", "-c", "count.c"], cwd=self.work, check=True)
        subprocess.run([workshop.TOOLS / "heddle-cc", "-g", "-O1", "-pthread", "main.c", "count.o",
                        "-o", "mixed"], cwd=self.work, check=True)
        found = self.json("explore", "--", "./mixed", status=1)
        events = self.heddle("show", found["run"], "--events").stdout
        self.assertIn("count.c:1", events)
        self.assertIn("main.c:5", events)
        self.assertTrue(self.json("replay", found["run"])["reproduced"])

    def test_delayed_stores_are_refused(self):
        program = self.link(workshop.BUGS / "lost_update" / "buggy.c", "gcc", "prog")
        self.refused("explore", "--memory-model", "tso", "--", program, says=["--memory-model sc"])

    def test_the_sanitizers_own_runtime_is_refused(self):
        source = workshop.BUGS / "lost_update" / "buggy.c"
        for compiler, kind, advice in (("gcc", "thread", "heddle-cc"), ("clang-19", "thread", "heddle-cc"),
                                       ("clang-19", "memory", "without -fsanitize=memory"),
                                       ("clang-19", "leak", "without -fsanitize=leak"),
                                       ("gcc", "address", "without -fsanitize=address")):
            with self.subTest(f"{compiler} {kind}"):
                subprocess.run([compiler, "-pthread", f"-fsanitize={kind}", source, "-o", "prog"],
                               cwd=self.work, check=True)
                self.refused("explore", "--", "./prog", says=["Sanitizer's runtime", advice])
