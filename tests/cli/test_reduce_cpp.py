# SPDX-License-Identifier: Apache-2.0
"""Reduction of programs in C++, where exceptions may leave nearly every loop."""
import unittest

from workshop import Workshop

# Who meets another from the seventh round on throws, which is what main must not see.
THROWING = """
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>
static std::mutex mutex;
static volatile int busy, caught;
static long sum;
__attribute__((noinline)) static void add(int value) {
  std::lock_guard lock(mutex);
  if ((sum += value) > 1000) throw std::overflow_error("too much");
}
static void work() {
  try {
    for (int i = 0; i < 12; ++i) {
      add(i);
      if (i >= 6 && busy) throw std::runtime_error("somebody is here");
      busy = 1;
      add(1);
      busy = 0;
    }
  } catch (const std::runtime_error&) {
    caught = 1;
  }
}
int main() {
  std::thread a(work), b(work);
  a.join();
  b.join();
  assert(!caught);
}
"""

# Fails with two of the four clerks, and within one round of each: but not so that the failing
# schedule of all of them, without the others, leads there.
TRANSFERS = """
#include <cassert>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
struct Account { std::mutex mutex; long balance = 100; };
static std::string last;
static std::mutex last_mutex;
static bool transfer(Account& from, Account& to, long amount) {
  {
    std::lock_guard lock(from.mutex);
    if (from.balance < amount) return false;
  }
  std::scoped_lock lock(from.mutex, to.mutex);
  from.balance -= amount;
  to.balance += amount;
  assert(from.balance >= 0);
  return true;
}
int main() {
  Account a, b;
  std::vector<std::thread> clerks;
  for (int i = 0; i < 4; ++i)
    clerks.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) {
        if (transfer(a, b, 60)) {
          std::lock_guard lock(last_mutex);
          last = "clerk " + std::to_string(i);
        }
        transfer(b, a, 60);
      }
    });
  for (auto& clerk : clerks) clerk.join();
}
"""


class ReduceCpp(Workshop):
    def build_cpp(self, text):
        source = self.work / "prog.cpp"
        source.write_text(text)
        return self.build(source, compiler="heddle-c++")

    def test_iterations_go_where_an_exception_may_leave_the_loop(self):
        run = self.json("explore", "--", self.build_cpp(THROWING), status=1)["run"]
        reduced = self.json("reduce", run)
        loop = next(number for number, line in enumerate(THROWING.splitlines(), 1)
                    if "for (int i" in line)
        gone = [entry for entry in reduced["account"] if "iterations" in entry]
        self.assertTrue(all(entry["line"] == loop for entry in gone), gone)
        self.assertGreaterEqual(sum(len(entry["iterations"]) for entry in gone), 10)
        self.assertTrue(self.json("replay", "-n", 3, reduced["run"])["reproduced"])
        # What was thrown ended the iteration, before it was caught.
        lines = self.heddle("show", reduced["run"], "--events").stdout.splitlines()
        shown = [line.split() for line in lines if line[:1].isdigit()]
        thrower = next(words[1] for words in shown if words[2:4] == ["store", "caught"])
        own = [words[2:4] for words in shown if words[1:2] == [thrower]]
        before = [words[0] for words in own[:own.index(["store", "caught"])]
                  if words[0].startswith("iteration_")]
        self.assertEqual(before, ["iteration_begin", "iteration_end"] * (len(before) // 2))
        self.assertTrue(before)

    def test_a_failure_that_fewer_threads_have_in_other_schedules_is_found(self):
        program = self.build_cpp(TRANSFERS)
        for seed in (1, 2, 3):
            run = self.json("explore", "--seed", seed, "--", program, status=1)["run"]
            reduced = self.json("reduce", run)
            self.assertEqual(reduced["after"]["threads"], 3)
            self.assertLessEqual(reduced["after"]["preemptions"], 3)
            self.assertTrue(self.json("replay", "-n", 3, reduced["run"])["reproduced"])


if __name__ == "__main__":
    unittest.main()
