// SPDX-License-Identifier: Apache-2.0
//
// bench_collect COUNT PROGRAM ARGUMENT...: executes the program COUNT times in a row as `heddle
// locate` makes its runs with random delays, each recorded. Prints CPU seconds of everything
// involved, start-up included, the events and steps of the last execution, and processes made.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "bench/cpu_seconds.h"
#include "driver/target.h"

namespace {

using namespace heddle;

constexpr std::uint64_t kMaxEvents = 20'000'000;

struct Recorded {
  std::uint64_t events = 0;
  std::uint64_t steps = 0;
  std::uint64_t processes = 0;
};

Recorded collect(const driver::Inputs& inputs, std::uint64_t count) {
  abi::Options options;
  std::strcpy(options.strategy, "delays");
  std::strcpy(options.preempt_at, "sync");
  options.max_events = kMaxEvents;
  driver::Target target({inputs.arguments.front(), {}}, inputs, kMaxEvents,
                        std::chrono::seconds(120));
  for (std::uint64_t i = 0; i < count; ++i) {
    options.seed = i + 1;
    if (target.run(options, {}).status == 0) continue;
    std::fputs(target.standard_error().c_str(), stderr);
    std::exit(3);
  }
  const abi::ChannelHeader& header = target.channel().header();
  return {header.events.count, header.steps.count, header.reset.processes};
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 3) return 2;
  driver::Inputs inputs;
  inputs.arguments.assign(arguments + 2, arguments + argument_count);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    inputs.environment.emplace_back(*variable);
  }
  inputs.directory = std::filesystem::current_path();
  // Workers outlive the process they were forked from for a moment; their time counts too.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Recorded last = collect(inputs, std::strtoull(arguments[1], nullptr, 10));
  while (wait(nullptr) > 0) {
  }
  std::printf("%.6f %llu %llu %llu\n", cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN),
              static_cast<unsigned long long>(last.events),
              static_cast<unsigned long long>(last.steps),
              static_cast<unsigned long long>(last.processes));
  return 0;
}
