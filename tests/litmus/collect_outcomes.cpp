// SPDX-License-Identifier: Apache-2.0
//
// collect_outcomes PROGRAM MODEL PREEMPTIONS RANDOM: what the program prints in every schedule with
// at most so many preemptions, then in so many random ones, as JSON.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "driver/outcome.h"
#include "driver/program.h"
#include "driver/search/search.h"
#include "driver/target.h"

namespace {

using namespace heddle;

class Collector {
 public:
  Collector(const driver::Program& program, const driver::Inputs& inputs, std::uint64_t max_events)
      : target_(program.image(), inputs, max_events, std::chrono::seconds(60)) {}

  std::uint64_t run(driver::Search& search, std::uint64_t limit) {
    std::uint64_t tried = 0;
    while (limit == 0 || tried < limit) {
      const std::optional<driver::Trial> trial = search.next();
      if (!trial) break;
      const driver::Execution execution = target_.run(trial->options, trial->plan);
      const driver::Ending ending = driver::classify(target_, execution);
      if (ending.failed()) {
        throw defect("a schedule failed: " + ending.message + target_.standard_error());
      }
      std::string outcome = target_.standard_output();
      if (outcome.ends_with('\n')) outcome.pop_back();
      ++outcomes_[outcome];
      search.observe(*trial, target_.channel(), false);
      ++tried;
    }
    return tried;
  }

  const std::map<std::string, std::uint64_t>& outcomes() const { return outcomes_; }

 private:
  driver::Target target_;
  std::map<std::string, std::uint64_t> outcomes_;
};

int collect(const std::string& name, const char* model, std::uint32_t bound, std::uint64_t random) {
  const driver::Program program = driver::Program::open(name, [](std::string_view) {});
  const driver::Inputs inputs{{name}, {}, std::filesystem::current_path(), ""};
  abi::Options options;
  options.max_events = 1 << 16;
  std::strncpy(options.memory_model, model, sizeof options.memory_model - 1);
  Collector collector(program, inputs, options.max_events);

  nlohmann::json result;
  driver::SearchSettings settings;
  settings.strategies = {"chess"};
  settings.options = options;
  settings.max_preemptions = bound;
  settings.prune = false;  // outcomes are what the program prints
  const auto systematic = driver::make_search(settings);
  result["schedules"] = collector.run(*systematic, 0);
  result["exhausted_bound"] = systematic->exhausted_bound().value_or(0);
  if (random != 0) {
    settings.strategies = {"random"};
    const auto walk = driver::make_search(settings);
    result["random_schedules"] = collector.run(*walk, random);
  }
  result["outcomes"] = collector.outcomes();
  std::cout << result.dump(2) << "\n";
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::cerr << "usage: collect_outcomes PROGRAM MODEL PREEMPTIONS RANDOM\n";
    return 2;
  }
  try {
    return collect(words[1], words[2], static_cast<std::uint32_t>(std::atoi(words[3])),
                   static_cast<std::uint64_t>(std::atoll(words[4])));
  } catch (const std::exception& error) {
    std::cerr << "collect_outcomes: " << error.what() << "\n";
    return 4;
  }
}
