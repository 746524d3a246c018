// SPDX-License-Identifier: Apache-2.0
#include "tests/carrier/executions.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "driver/build/variant.h"

namespace heddle::driver {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr std::uint64_t kMaxEvents = 100'000;

Inputs inputs_for(const fs::path& executable, std::vector<std::string> arguments) {
  Inputs inputs;
  inputs.arguments = {executable.string()};
  inputs.arguments.insert(inputs.arguments.end(), arguments.begin(), arguments.end());
  inputs.environment = {"PATH=/usr/bin:/bin"};
  inputs.directory = executable.parent_path();
  inputs.standard_input = "some input\nof two lines\n";
  return inputs;
}

/// A directory that goes away with the test program.
const fs::path& scratch() {
  struct Directory {
    Directory() {
      std::string name = (fs::temp_directory_path() / "heddle-carrier-XXXXXX").string();
      if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
      path = name;
    }
    ~Directory() {
      std::error_code ignored;
      if (getpid() == owner) fs::remove_all(path, ignored);
    }
    fs::path path;
    pid_t owner = getpid();
  };
  static const Directory directory;
  return directory.path;
}

void must(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error(command);
}

template <typename Record>
void append(std::string& to, std::span<const Record> records) {
  to.append(reinterpret_cast<const char*>(records.data()), records.size_bytes());
}

}  // namespace

void PrintTo(const Footprint& footprint, std::ostream* out) {
  *out << "status " << footprint.status << ", " << footprint.events << " events, record "
       << std::hash<std::string>{}(footprint.recorded) << ", output \"" << footprint.output
       << "\", error \"" << footprint.error << '"';
}

Executions::Executions(const fs::path& executable, How how, std::vector<std::string> arguments)
    : target_({executable, {}}, inputs_for(executable, std::move(arguments)), kMaxEvents,
              seconds(20)) {
  options_.max_events = kMaxEvents;
  use(how);
}

void Executions::use(How how) {
  std::strcpy(options_.reset, how.reset);
  std::strcpy(options_.carrier, how.carrier);
  if (how.strategy != nullptr) std::strcpy(options_.strategy, how.strategy);
}

Footprint Executions::run(std::uint64_t seed) {
  options_.seed = seed;
  const Execution execution = target_.run(options_, plan_);
  const Channel& channel = target_.channel();
  Footprint footprint;
  footprint.status = execution.timed_out ? -1 : execution.status;
  footprint.events = channel.events().size();
  append(footprint.recorded, channel.events());
  append(footprint.recorded, channel.decisions());
  append(footprint.recorded, channel.threads());
  append(footprint.recorded, channel.objects());
  const abi::FailureRecord& failure = channel.header().failure;
  footprint.recorded += std::to_string(static_cast<int>(failure.kind));
  footprint.recorded += failure.message;
  footprint.output = target_.standard_output();
  footprint.error = target_.standard_error();
  return footprint;
}

std::vector<Footprint> Executions::run_all(const std::vector<std::uint64_t>& seeds) {
  std::vector<Footprint> footprints;
  for (const std::uint64_t seed : seeds) footprints.push_back(run(seed));
  return footprints;
}

long Executions::resident_kilobytes() const {
  std::ifstream file("/proc/" + std::to_string(target_.channel().header().child) + "/statm");
  long mapped = 0;
  long resident = 0;
  file >> mapped >> resident;
  return resident * 4;
}

fs::path native_program(const std::string& name) {
  const fs::path program = scratch() / name;
  if (!fs::exists(program)) {
    must("cc -std=gnu17 -D_GNU_SOURCE -g -O1 -w -pthread '" HEDDLE_TEST_PROGRAMS "/" + name +
         ".c' -o '" + program.string() + "' -ldl");
  }
  return program;
}

fs::path corpus_program(const std::string& name, const std::string& version) {
  const fs::path directory = scratch() / "bugs" / name;
  const fs::path program = directory / version;
  setenv("HEDDLE_CACHE", (scratch() / "cache").c_str(), 1);
  if (!fs::exists(program)) {
    fs::create_directories(directory);
    const fs::path sources = fs::path(HEDDLE_TEST_BUGS) / name;
    const bool cpp = fs::exists(sources / (version + ".cpp"));
    must(std::string(HEDDLE_TEST_BIN) + (cpp ? "/heddle-c++ -std=c++20" : "/heddle-cc -std=c17") +
         " -g -O1 -pthread '" + (sources / (version + (cpp ? ".cpp" : ".c"))).string() + "' -o '" +
         program.string() + "'");
  }
  return build::derive_variant(program, build::Variant::Full, [](std::string_view) {});
}

std::vector<std::string> corpus_names() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(HEDDLE_TEST_BUGS)) {
    if (fs::exists(entry.path() / "manifest.json")) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> corpus_arguments(const std::string& name) {
  std::ifstream file(fs::path(HEDDLE_TEST_BUGS) / name / "manifest.json");
  return nlohmann::json::parse(file).at("args").get<std::vector<std::string>>();
}

}  // namespace heddle::driver
