// SPDX-License-Identifier: Apache-2.0
//
// Builds a program and executes it under control; everything an execution left behind as one value
// that can be compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "driver/target.h"

namespace heddle::driver {

/// Byte for byte what the driver could see of an execution.
struct Footprint {
  int status = 0;
  std::uint64_t events = 0;
  std::string recorded;  // events, decisions, threads, objects, text, failure
  std::string output;
  std::string error;
  bool operator==(const Footprint&) const = default;
};

void PrintTo(const Footprint& footprint, std::ostream* out);

struct How {
  const char* reset = "auto";
  const char* carrier = "fiber";
  const char* strategy = nullptr;  // its default
};

class Executions {
 public:
  Executions(const std::filesystem::path& executable, How how,
             std::vector<std::string> arguments = {});

  /// How executions from now on come about.
  void use(How how);
  void limit_events(std::uint64_t most) { options_.max_events = most; }
  void plan(std::vector<abi::PlanRecord> records) { plan_ = std::move(records); }
  Footprint run(std::uint64_t seed);
  std::vector<Footprint> run_all(const std::vector<std::uint64_t>& seeds);

  const abi::ResetState& reset() const { return target_.channel().header().reset; }
  const Target& target() const { return target_; }
  /// Of the process that serves executions, in kilobytes.
  long resident_kilobytes() const;

 private:
  abi::Options options_;
  std::vector<abi::PlanRecord> plan_;
  Target target_;
};

/// programs/NAME.c, built natively: only its synchronisation is controlled. Built once.
std::filesystem::path native_program(const std::string& name);
/// The full variant of bugs/NAME/VERSION. Built once.
std::filesystem::path corpus_program(const std::string& name, const std::string& version);
std::vector<std::string> corpus_names();
/// The arguments that its manifest names.
std::vector<std::string> corpus_arguments(const std::string& name);

}  // namespace heddle::driver
