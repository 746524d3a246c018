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

/// A plain file that a recorded program read.
struct StoredFile {
  std::string given;  // as the program named it
  std::string path;   // where that was
  std::string sha256;
  std::uint64_t size = 0;
  std::string copy;  // where its contents are; empty: they were too many to keep
  bool operator==(const StoredFile&) const = default;
};

/// What a run that was recorded in parallel was told from outside.
struct StoredOutside {
  std::map<std::string, std::string> answers;  // by thread path; as abi/recording.h has them
  std::vector<StoredFile> files;
  std::int32_t process = 0;  // its id
  bool operator==(const StoredOutside&) const = default;
};

/// What the program was started with; any of it may be arbitrary bytes.
struct RunInputs {
  std::vector<std::string> arguments;    // from argv[0] on
  std::vector<std::string> environment;  // "NAME=value"
  std::string directory;
  std::optional<std::string> standard_input;  // a copy, when it was not a terminal
  std::optional<StoredOutside> outside = std::nullopt;
  std::string checkpoint =
      {};  // the image that it begins with; empty: it begins where the program does
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
