// SPDX-License-Identifier: Apache-2.0
//
// bench_executions HOW COUNT CARRIER PROGRAM: executes the program COUNT times.
//   exec      a fresh process each time, with the runtime preloaded and nobody listening
//   fork      through the driver, each execution forked
//   inplace   through the driver, each execution undone in place
//   endure    the same; a line for each tenth: executions, resident kilobytes of driver and worker,
//             their open descriptors, processes made so far, and CPU microseconds each of the next
//             executions, in turns of this target and of a fresh one
// Prints wall seconds, CPU seconds of everything involved (start-up included), events and switches
// recorded in the last execution, and processes made.
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "bench/cpu_seconds.h"
#include "driver/build/toolchain.h"
#include "driver/target.h"

namespace {

using namespace heddle;

struct Measured {
  std::uint64_t events = 0;
  std::uint64_t switches = 0;
  std::uint64_t processes = 0;
};

double seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Measured run_fresh(const char* program, std::uint64_t count) {
  const std::string preload = "LD_PRELOAD=" + build::runtime_library().string();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string options = "HEDDLE_OPTIONS=seed=" + std::to_string(i + 1);
    char* const arguments[] = {const_cast<char*>(program), nullptr};
    char* const environment[] = {const_cast<char*>(preload.c_str()),
                                 const_cast<char*>(options.c_str()), nullptr};
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, program, nullptr, nullptr, arguments, environment) != 0) std::exit(3);
    waitpid(child, &status, 0);
    if (status != 0) std::exit(3);
  }
  return {0, 0, count};
}

Measured run_driven(const char* program, std::uint64_t count, const char* reset,
                    const char* carrier) {
  driver::Inputs inputs;
  inputs.arguments = {program};
  inputs.directory = "/";
  abi::Options options;
  std::strcpy(options.reset, reset);
  std::strcpy(options.carrier, carrier);
  driver::Target target({program, {}}, inputs, options.max_events, std::chrono::seconds(60));
  target.stay_on_one_cpu();
  for (std::uint64_t i = 0; i < count; ++i) {
    options.seed = i + 1;
    if (target.run(options, {}).status != 0) std::exit(3);
  }
  Measured measured{target.channel().events().size(), 0, target.channel().header().reset.processes};
  for (const abi::DecisionRecord& decision : target.channel().decisions()) {
    measured.switches += decision.chosen != decision.thread ? 1 : 0;
  }
  return measured;
}

long resident_kilobytes(const std::string& process) {
  long pages = 0;
  std::ifstream("/proc/" + process + "/statm").ignore(64, ' ') >> pages;
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

long open_descriptors(const std::string& process) {
  std::error_code gone;
  return std::distance(std::filesystem::directory_iterator("/proc/" + process + "/fd", gone), {});
}

/// CPU seconds of a process, by its clock: what it has used so far, alive or not yet waited for.
double cpu_of(pid_t process) {
  clockid_t clock = 0;
  return clock_getcpuclockid(process, &clock) == 0 ? seconds(clock) : 0;
}

/// CPU microseconds of one execution, of driver and worker together.
double cost(driver::Target& target, std::uint64_t count) {
  abi::Options options;
  const pid_t& worker = target.channel().header().child;
  const double before = cpu_seconds(RUSAGE_SELF) + cpu_of(worker);
  for (std::uint64_t i = 1; i <= count; ++i) {
    options.seed = i;
    if (target.run(options, {}).status != 0) std::exit(3);
  }
  return (cpu_seconds(RUSAGE_SELF) + cpu_of(worker) - before) / static_cast<double>(count) * 1e6;
}

void endure(const char* program, std::uint64_t count) {
  constexpr std::uint64_t kTurn = 2000;
  constexpr int kTurns = 8;
  driver::Inputs inputs;
  inputs.arguments = {program};
  inputs.directory = "/";
  const std::uint64_t max_events = abi::Options{}.max_events;
  driver::Target target({program, {}}, inputs, max_events, std::chrono::seconds(60));
  target.stay_on_one_cpu();
  const abi::ChannelHeader& header = target.channel().header();
  for (std::uint64_t done = count / 10; done <= count; done += count / 10) {
    cost(target, count / 10);
    const std::string worker = std::to_string(header.child);
    std::printf("%llu %ld %ld %ld %ld %llu", static_cast<unsigned long long>(done),
                resident_kilobytes("self"), resident_kilobytes(worker), open_descriptors("self"),
                open_descriptors(worker), static_cast<unsigned long long>(header.reset.processes));
    // The machine's own ups and downs concern both.
    driver::Target fresh({program, {}}, inputs, max_events, std::chrono::seconds(60));
    fresh.stay_on_one_cpu();
    cost(fresh, kTurn);
    for (int i = 0; i < kTurns; ++i) {
      const bool first = i % 2 == 0;
      const double a = cost(first ? target : fresh, kTurn);
      const double b = cost(first ? fresh : target, kTurn);
      std::printf(" %.3f %.3f", first ? a : b, first ? b : a);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 5) return 2;
  const std::string how = arguments[1];
  const std::uint64_t count = std::strtoull(arguments[2], nullptr, 10);
  if (how == "endure") {
    endure(arguments[4], count);
    return 0;
  }
  // Workers outlive the process they were forked from for a moment; their time counts too.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const double begin = seconds(CLOCK_MONOTONIC);
  const Measured measured = how == "exec"
                                ? run_fresh(arguments[4], count)
                                : run_driven(arguments[4], count, arguments[1], arguments[3]);
  const double wall = seconds(CLOCK_MONOTONIC) - begin;
  while (wait(nullptr) > 0) {
  }
  std::printf("%.6f %.6f %llu %llu %llu\n", wall,
              cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN),
              static_cast<unsigned long long>(measured.events),
              static_cast<unsigned long long>(measured.switches),
              static_cast<unsigned long long>(measured.processes));
  return 0;
}
