// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "driver/library_look.h"

extern char** environ;

namespace heddle::cli {
namespace {

void copy_option(char (&to)[32], const std::string& from, const char* name) {
  if (from.size() >= sizeof to) {
    throw user_error(fmt::format("--{}: '{}' is too long", name, from));
  }
  std::strcpy(to, from.c_str());
}

constexpr std::string_view kPreemptAt[] = {"sync", "shared", "raced", "all", "auto"};

std::string flag_name(const char* option) {
  std::string name = std::string("--") + option;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// A place for CLI11 to put each option's value: texts are kept as std::string until options_of().
std::uint64_t& slot(RunFlags&, std::uint64_t& option) {
  return option;
}

std::string& slot(RunFlags& flags, char (&option)[32]) {
  if (&option == &flags.options.strategy) return flags.strategy;
  if (&option == &flags.options.memory_model) return flags.memory_model;
  if (&option == &flags.options.reset) return flags.reset;
  if (&option == &flags.options.preempt_at) return flags.preempt_at;
  return flags.carrier;
}

void read_environment(RunFlags& flags) {
  const char* const text = std::getenv("HEDDLE_OPTIONS");
  std::istringstream items(text == nullptr ? "" : text);
  for (std::string item; std::getline(items, item, ':');) {
    const std::size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    bool known = false;
#define HEDDLE_OPTION(Type, option, default_value, help)                         \
  if (name == #option) {                                                         \
    known = CLI::detail::lexical_cast(value, slot(flags, flags.options.option)); \
  }
#include "abi/options.def"
    if (!known) {
      throw user_error(fmt::format(
          "HEDDLE_OPTIONS: cannot take '{}'; options and values are in: heddle run --help", item));
    }
  }
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw user_error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void add_run_flags(CLI::App& command, RunFlags& flags) {
  read_environment(flags);
#define HEDDLE_OPTION(Type, option, default_value, help)                          \
  command.add_option(flag_name(#option), slot(flags, flags.options.option), help) \
      ->capture_default_str();
#include "abi/options.def"
  command.add_flag("--check-determinism", flags.check_determinism,
                   "execute each schedule twice and tell where the two differ first");
  command.add_flag("--audit", flags.audit,
                   "also watch the accesses that were proved unshared, and stop where that is "
                   "wrong; the runs are the same, but slower");
  add_program_flags(command, flags);
}

void add_program_flags(CLI::App& command, RunFlags& flags) {
  command.add_option("--stdin", flags.standard_input_file,
                     "file the program reads as its standard input (default: empty)");
  command
      .add_option("--timeout", flags.timeout_seconds,
                  "seconds after which an execution that stands still counts as hanging")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_option("--fails-if", flags.fails_if,
                     "shell command that exits 0 when a run that ended normally is wrong; it finds "
                     "HEDDLE_EXIT, HEDDLE_STDOUT and HEDDLE_STDERR set");
  command.add_option("program", flags.command, "the program and its arguments, after --")
      ->required();
}

driver::Program open_program(const RunFlags& flags, const driver::Progress& progress,
                             abi::Variant variant) {
  if (flags.audit) variant = variant.with(abi::Variant::Audit);
  RunFlags look = flags;
  look.strategy = abi::Options{}.strategy;  // a search's is of no use for one execution
  driver::Program program = driver::open_with_libraries(
      inputs_of(flags), options_of(look), limits_of(flags).execution, progress, variant);
  if (flags.audit && program.sites() == nullptr) {
    throw user_error(
        fmt::format("--audit: {} was not built with heddle-cc, so that no access was proved "
                    "unshared; build it with heddle-cc or leave --audit out",
                    flags.command[0]));
  }
  return program;
}

abi::Options options_of(const RunFlags& flags) {
  abi::Options options = flags.options;
  copy_option(options.strategy, flags.strategy, "strategy");
  copy_option(options.memory_model, flags.memory_model, "memory-model");
  copy_option(options.carrier, flags.carrier, "carrier");
  copy_option(options.preempt_at, flags.preempt_at, "preempt-at");
  if (std::ranges::find(kPreemptAt, flags.preempt_at) == std::end(kPreemptAt)) {
    throw user_error(fmt::format("--preempt-at: there is no '{}'; there are: {}", flags.preempt_at,
                                 fmt::join(kPreemptAt, ", ")));
  }
  if (options.overlook > 1 || (options.overlook == 1 && flags.preempt_at != "sync")) {
    throw user_error(
        "--overlook: 0, or 1 together with --preempt-at sync; explore decides by itself");
  }
  if (options.overlook == 0 && (options.see_from != 0 || options.see_events != 0)) {
    throw user_error("--see-from, --see-events: only where accesses are overlooked (--overlook 1)");
  }
  if (options.depth == 0 || options.depth > 65) {
    throw user_error(fmt::format("--depth: {} is not between 1 and 65", options.depth));
  }
  copy_option(options.reset, flags.reset, "reset");
  if (flags.reset != "auto" && flags.reset != "inplace" && flags.reset != "fork") {
    throw user_error(
        fmt::format("--reset: there is no '{}'; there are: auto, inplace, fork", flags.reset));
  }
  if (std::ranges::find(abi::kMemoryModels, flags.memory_model) == std::end(abi::kMemoryModels)) {
    throw user_error(fmt::format("--memory-model: there is no '{}'; there are: {}",
                                 flags.memory_model, fmt::join(abi::kMemoryModels, ", ")));
  }
  if (flags.carrier != "fiber" && flags.carrier != "kernel") {
    throw user_error(
        fmt::format("--carrier: there is no '{}'; there are: fiber, kernel", flags.carrier));
  }
  if (options.max_events == 0) throw user_error("--max-events: a run needs at least one event");
  return options;
}

driver::Inputs inputs_of(const RunFlags& flags) {
  driver::Inputs inputs;
  inputs.arguments = flags.command;
  for (char** entry = environ; *entry != nullptr; ++entry) inputs.environment.emplace_back(*entry);
  inputs.directory = std::filesystem::current_path();
  if (!flags.standard_input_file.empty()) {
    inputs.standard_input = read_file(flags.standard_input_file);
  }
  return inputs;
}

driver::ExploreLimits limits_of(const RunFlags& flags) {
  driver::ExploreLimits limits;
  limits.execution = std::chrono::milliseconds(static_cast<long>(flags.timeout_seconds * 1000));
  limits.fails_if = flags.fails_if;
  limits.check_determinism = flags.check_determinism;
  return limits;
}

store::RunInputs to_stored(const driver::Inputs& inputs) {
  store::RunInputs stored{inputs.arguments, inputs.environment, inputs.directory.string(),
                          std::nullopt,     std::nullopt,       inputs.checkpoint.string()};
  if (!inputs.standard_input.empty()) stored.standard_input = inputs.standard_input;
  if (inputs.outside) {
    stored.outside.emplace();
    stored.outside->answers = inputs.outside->answers;
    stored.outside->process = inputs.outside->process;
    for (const driver::InputFile& file : inputs.outside->files) {
      stored.outside->files.push_back({file.given, file.path, file.sha256, file.size, file.copy});
    }
  }
  return stored;
}

driver::StartedProgram program_of(const driver::Inputs& inputs) {
  driver::LibrarySearch search{inputs.directory, ""};
  constexpr std::string_view kPath = "LD_LIBRARY_PATH=";
  for (const std::string& entry : inputs.environment) {
    if (entry.starts_with(kPath)) search.path = entry.substr(kPath.size());
  }
  const std::string& given = inputs.arguments.at(0);
  std::error_code error;
  const bool is_path = given.find('/') != std::string::npos;
  const bool is_here = std::filesystem::equivalent(inputs.directory, ".", error);
  if (!is_path || is_here) return {given, std::move(search)};
  return {(inputs.directory / given).lexically_normal().string(), std::move(search)};
}

driver::Inputs from_stored(const store::RunInputs& inputs) {
  driver::Inputs result{inputs.arguments, inputs.environment, inputs.directory,
                        inputs.standard_input.value_or("")};
  result.checkpoint = inputs.checkpoint;
  if (inputs.outside) {
    result.outside.emplace();
    result.outside->answers = inputs.outside->answers;
    result.outside->process = inputs.outside->process;
    for (const store::StoredFile& file : inputs.outside->files) {
      result.outside->files.push_back(
          {file.given, file.path, file.sha256, file.size, file.copy, {}});
    }
    driver::resolve_files(*result.outside);
  }
  return result;
}

}  // namespace heddle::cli
