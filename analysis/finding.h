// SPDX-License-Identifier: Apache-2.0
//
// What localisation concludes: which accesses, on which lines, are the bug, with the evidence.
// Reports render it and compute nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/oracle.h"
#include "trace/trace.h"

namespace heddle::analysis {

enum class BugClass : std::uint8_t {
  OrderViolation,
  AtomicityViolation,
  MultiVariableAtomicityViolation,
  Deadlock,
  MissedNotification,
  MemoryOrderViolation,
};
/// "order-violation" ...
const char* to_text(BugClass bug_class);

/// A loop that an access is in.
struct FoundLoop {
  std::string site;             // its header
  trace::Frame frame;           // file empty: unknown
  std::uint32_t entry = 0;      // how often it had been entered in the round around it, from 1
  std::uint32_t iteration = 0;  // from 1
};

struct FoundAccess {
  Point point;
  trace::Frame frame;                 // file empty: not in instrumented code
  std::string thread;                 // whose access it is, also where a flusher carried it out
  std::string role;                   // "R", "W", "RW", "lock", "wait"
  std::vector<FoundLoop> loops;       // from the outermost; empty also if the run does not tell
  std::vector<trace::Frame> context;  // functions it is in, from the outermost; if the run tells
  std::optional<std::size_t> event;   // in the failed run
};

struct FoundPair {
  std::string variable;  // as a person would say it
  trace::ObjectKind object_kind = trace::ObjectKind::Unknown;
  std::string object;  // as the trace names it
  std::uint64_t offset = 0;
  FoundAccess first;
  FoundAccess second;
  bool in_failed_run = true;
  bool suspicious = true;  // false: found by experiment only, in passing runs too
};

/// What an experiment with the program said.
struct Experience {
  std::uint64_t possible = 0;
  std::uint64_t held = 0;
};

/// Accesses of one thread that were probably meant to be one step.
struct Region {
  FoundAccess first;
  FoundAccess last;
};

struct Finding {
  std::uint32_t rank = 0;
  std::string procedure;  // "I", "II", "III", "cycle", "experiment", "falcon"
  std::string level;      // "PC", "TID", "LOOP"
  BugClass bug_class = BugClass::OrderViolation;
  std::optional<unsigned> shape;  // 1 ... 15 of LOCON's Table 1
  std::vector<FoundPair> pairs;
  std::vector<Region> regions;
  std::optional<double> score;  // of Falcon's ranking
  bool confirmed = false;
  Experience forbidden;  // pairs turned round in the failing run: did the failure go away
  Experience enforced;   // passing runs in which they were forced: did it follow
};

struct Localisation {
  std::vector<Finding> findings;
  std::uint64_t failed_pairs = 0;  // different pairs of the failed run
  std::uint64_t candidates = 0;    // what the last of the procedures suspected
  std::uint64_t passing_runs = 0;
  std::uint64_t executions = 0;
  std::uint64_t refuted = 0;         // candidates that an experiment ruled out
  std::vector<std::uint64_t> curve;  // different pairs known after each passing run
  bool saturated = false;            // new passing runs had no new pairs
  std::map<std::string, std::uint64_t> other_failures;  // by signature; kept apart
  Attempt failed;                                       // the failing run as it came back
  std::optional<Attempt> nearest;                       // of the passing ones
  std::size_t common_events = 0;                        // of `failed` and `nearest`, from the start
};

}  // namespace heddle::analysis
