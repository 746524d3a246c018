// SPDX-License-Identifier: Apache-2.0
//
// A run as the store takes and gives it: plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/schedule.h"
#include "trace/trace.h"

namespace heddle::store {

using RunId = std::string;  // "r1", "r2" ...: in the order of their making, never given out twice

/// What the program was started with; any of it may be arbitrary bytes.
struct RunInputs {
  std::vector<std::string> arguments;    // from argv[0] on
  std::vector<std::string> environment;  // "NAME=value"
  std::string directory;
  std::optional<std::string> standard_input;  // a copy, when it was not a terminal
  std::map<std::string, std::vector<std::int64_t>> clock = {};  // by thread: the times it was told
  bool operator==(const RunInputs&) const = default;
};

struct RunOutput {
  std::string standard_output;
  std::string standard_error;
  bool operator==(const RunOutput&) const = default;
};

struct NewRun {
  std::string command;  // the command that made it: "explore", "run" ...
  trace::Trace trace;
  trace::Schedule schedule;
  RunInputs inputs;
  RunOutput output;
  double seconds = 0;
};

/// One row of `heddle ls`.
struct RunSummary {
  RunId id;
  std::string created;  // UTC, "2026-11-15T20:14:00Z"
  std::string command;
  std::string program;
  std::string build_id;
  abi::FailureKind outcome = abi::FailureKind::None;
  std::string signature;
  std::uint64_t events = 0;
  std::uint64_t threads = 0;
  std::uint64_t switches = 0;
  std::uint64_t preemptions = 0;
  double seconds = 0;
  bool operator==(const RunSummary&) const = default;
};

}  // namespace heddle::store
