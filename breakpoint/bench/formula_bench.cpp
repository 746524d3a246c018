// SPDX-License-Identifier: Apache-2.0
//
// The experiment behind the formula of the paper's section 3: two independent threads of N steps
// each visit M states that satisfy their local predicate, m of which also satisfy the global one,
// at random times; each visit pauses for T steps. How often is the breakpoint hit?
//
// Usage: formula_bench N m M T step_us runs seed   prints the number of runs with a hit
//
// A step is a length of time, slept rather than computed, so that many pairs of threads can be
// measured side by side without taking the processor from one another.
#include <heddle/breakpoint.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Micros = std::chrono::duration<double, std::micro>;

struct Experiment {
  int steps, matching, visits, pause_steps;
  double step_us;
};

struct Visit {
  double step;
  bool matches;
};

/// The visits of one thread, uniformly at random over its steps.
std::vector<Visit> random_visits(const Experiment& experiment, std::mt19937_64& generator) {
  std::uniform_real_distribution<double> anywhere(0, experiment.steps);
  std::vector<Visit> visits;
  for (int i = 0; i < experiment.visits; ++i) {
    visits.push_back({anywhere(generator), i < experiment.matching});
  }
  std::sort(visits.begin(), visits.end(), [](auto& a, auto& b) { return a.step < b.step; });
  return visits;
}

/// Steps and visits of one thread; a pause makes it that much later. True if it was hit.
bool run_thread(const Experiment& experiment, const char* name, unsigned side,
                const std::vector<Visit>& visits, Clock::time_point start,
                std::atomic<bool>& over) {
  Micros paused{0};
  for (const Visit& visit : visits) {
    std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(
                                              Micros(visit.step * experiment.step_us) + paused));
    if (over) return false;
    auto before = Clock::now();
    bool hit = heddle::breakpoint(name, visit.matches)
                   .where([](bool a, bool b) { return a && b; })
                   .pause(Micros(experiment.pause_steps * experiment.step_us))
                   .order(std::chrono::seconds(0))
                   .side(side);
    paused += Clock::now() - before;
    if (hit) {
      over = true;
      return true;
    }
  }
  return false;
}

bool run_pair(const Experiment& experiment, const char* name, unsigned long seed) {
  std::mt19937_64 generator(seed);
  auto first = random_visits(experiment, generator);
  auto second = random_visits(experiment, generator);
  auto start = Clock::now() + std::chrono::milliseconds(5);  // both threads are up by then
  std::atomic<bool> over{false};
  bool hit = false;
  std::thread partner([&] { run_thread(experiment, name, 1, second, start, over); });
  hit = run_thread(experiment, name, 0, first, start, over);
  partner.join();
  return hit;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  heddle::configure_breakpoints("early_end=0");  // the formula knows pauses of full length only
  Experiment experiment{std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]),
                        std::atoi(argv[4]), std::atof(argv[5])};
  const int runs = std::atoi(argv[6]);
  const unsigned long seed = std::strtoul(argv[7], nullptr, 10);

  constexpr int kLanes = 25;  // pairs side by side, each with a breakpoint of its own
  std::atomic<int> next{0}, hits{0};
  std::vector<std::thread> lanes;
  for (int lane = 0; lane < kLanes; ++lane) {
    lanes.emplace_back([&, lane] {
      std::string name = "lane " + std::to_string(lane);
      for (int i; (i = next++) < runs;) hits += run_pair(experiment, name.c_str(), seed + i);
    });
  }
  for (std::thread& lane : lanes) lane.join();
  std::printf("%d\n", hits.load());
}
