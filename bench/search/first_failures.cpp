// SPDX-License-Identifier: Apache-2.0
//
// bench_first_failures MODEL BUDGET STRATEGY SEED... -- PROGRAM ARGUMENTS...: searches once with
// each seed, in one target, until the first failure or until BUDGET schedules have been tried.
//
// Prints a line a search: number of the first failing schedule (0: none), schedules, seconds. The
// counts are those of `heddle explore` with the same options; what is saved is starting the program
// and keeping the run, which takes longer than most searches.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "driver/outcome.h"
#include "driver/program.h"
#include "driver/search/search.h"
#include "driver/target.h"

namespace {

using namespace heddle;
using Clock = std::chrono::steady_clock;

struct Counted {
  std::uint64_t first_failure = 0;
  std::uint64_t schedules = 0;
};

Counted search_once(driver::Target& target, driver::Search& search, std::uint64_t budget) {
  Counted counted;
  while (counted.schedules < budget) {
    const std::optional<driver::Trial> trial = search.next();
    if (!trial) break;
    const driver::Execution execution = target.run(trial->options, trial->plan);
    const driver::Ending ending = driver::classify(target, execution);
    if (ending.kind == abi::FailureKind::Internal || ending.kind == abi::FailureKind::Unsupported) {
      throw defect(ending.message);
    }
    search.observe(*trial, target.channel(), ending.failed());
    ++counted.schedules;
    if (!ending.failed()) continue;
    counted.first_failure = trial->number;
    break;
  }
  return counted;
}

int usage() {
  std::fputs("bench_first_failures MODEL BUDGET STRATEGY SEED... -- PROGRAM ARGUMENTS...\n",
             stderr);
  return 2;
}

}  // namespace

int main(int argument_count, char** arguments) try {
  const std::vector<std::string> words(arguments + 1, arguments + argument_count);
  std::size_t separator = 0;
  while (separator < words.size() && words[separator] != "--") ++separator;
  if (separator < 4 || separator + 1 >= words.size()) return usage();
  const std::uint64_t budget = std::strtoull(words[1].c_str(), nullptr, 10);

  driver::SearchSettings settings;
  settings.strategies = {words[2]};
  settings.prune = words[0] == "sc";
  std::snprintf(settings.options.memory_model, sizeof settings.options.memory_model, "%s",
                words[0].c_str());
  const driver::Program program =
      driver::Program::open(words[separator + 1], [](std::string_view) {});
  driver::Inputs inputs;
  inputs.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(separator) + 1, words.end());
  inputs.directory = std::filesystem::current_path();
  driver::Target target(program.executable(), inputs, settings.options.max_events,
                        std::chrono::seconds(60));
  for (std::size_t i = 3; i < separator; ++i) {
    settings.options.seed = std::strtoull(words[i].c_str(), nullptr, 10);
    const std::unique_ptr<driver::Search> search = driver::make_search(settings);
    const Clock::time_point begin = Clock::now();
    const Counted counted = search_once(target, *search, budget);
    std::printf("%llu %llu %.4f\n", static_cast<unsigned long long>(counted.first_failure),
                static_cast<unsigned long long>(counted.schedules),
                std::chrono::duration<double>(Clock::now() - begin).count());
    std::fflush(stdout);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_first_failures: %s\n", error.what());
  return 3;
}
