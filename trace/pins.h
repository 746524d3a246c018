// SPDX-License-Identifier: Apache-2.0
//
// Concurrent breakpoints as data: what an analysis proposes, what a breakpoint file holds, what is
// woven into a program. The file is JSON (report/pin_json.h); docs/pin.md describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/abi.h"

namespace heddle::trace {

/// A place in the program: its site if it is known, else the line, else the function's beginning.
struct PinPlace {
  std::string site;  // key
  std::string file;
  std::uint32_t line = 0;
  std::string function;
  std::string text;  // of the line, for those who read the file
  bool operator==(const PinPlace&) const = default;
};

inline constexpr std::uint32_t kEitherSide = 0xffffffff;

/// Where at a place a thread arrives. Woken: `at` waits for a condition, and the thread has been
/// woken but does not have its mutex again.
enum class PinMoment : std::uint8_t { Before, Behind, Woken };

/// One side of a breakpoint.
struct PinSide {
  std::uint32_t side = 0;  // 0 goes on first; or kEitherSide
  PinPlace at;
  PinMoment moment = PinMoment::Before;
  std::optional<PinPlace> until;    // its action lasts until just after this
  bool until_before = false;        // until just before it instead
  std::uint32_t visit = 0;          // of its thread; 0: each
  std::uint32_t ignore_first = 0;   // arrivals at this side, of all threads
  std::uint32_t bound = 0;          // in place of the breakpoint's; 0: as that says
  std::string thread;               // only the one with this birth ("t0.2"); empty: any
  std::string when;                 // over what the source names there
  std::optional<PinPlace> within;   // only while the thread is in this function
  std::optional<PinPlace> holding;  // only while it has a lock that it took there
  bool operator==(const PinSide&) const = default;
};

struct PinBreakpoint {
  std::string name;
  std::uint32_t sides = 2;
  double pause_ms = 200;
  double order_ms = 0;  // 0: as usual
  std::uint32_t bound = 1;
  std::uint32_t give_up = 20;
  std::vector<PinSide> at;
  bool operator==(const PinBreakpoint&) const = default;
};

using Pins = std::vector<PinBreakpoint>;

/// The failure the pins are to bring about, as a native run shows it.
struct PinnedFailure {
  abi::FailureKind kind = abi::FailureKind::None;
  int exit_code = 0;
  int signal = 0;
  std::string message;   // the assertion's text, the exception's what()
  std::string fails_if;  // for Predicate
  bool operator==(const PinnedFailure&) const = default;
};

/// A breakpoint file.
struct PinFile {
  std::string program;                 // as the user gave it
  std::vector<std::string> arguments;  // without the program
  PinnedFailure failure;
  PinPlace failed_at;  // where freed memory was used
  Pins pins;
  bool operator==(const PinFile&) const = default;
};

}  // namespace heddle::trace
