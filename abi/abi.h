// SPDX-License-Identifier: Apache-2.0
//
// What pass, runtime, driver and file formats agree on. Nothing here depends on anything but the
// compiler, so that the runtime (which lives in somebody else's process) can include it.
#pragma once

#include <cstdint>

namespace heddle::abi {

/// Raised when a hook, a record of channel.h or a site record changes meaning. The pass makes every
/// instrumented program refer to the symbol below, so a runtime of another version fails to link.
inline constexpr std::uint32_t kVersion = 5;
#define HEDDLE_ABI_SYMBOL __heddle_abi_v5
#define HEDDLE_ABI_SYMBOL_NAME "__heddle_abi_v5"

/// Before each call out of instrumented code the pass stores the call's site id here; whatever the
/// callee turns out to do (lock, allocate, create a thread, also deep inside an uninstrumented
/// library) is attributed to that source line.
#define HEDDLE_CALL_SITE_SYMBOL __heddle_call_site
#define HEDDLE_CALL_SITE_SYMBOL_NAME "__heddle_call_site"

/// A program with this symbol, started by itself, is not controlled: its hooks are there for who
/// records it, and until somebody does it runs as if there were none.
#define HEDDLE_NATIVE_SYMBOL __heddle_runs_natively
#define HEDDLE_NATIVE_SYMBOL_NAME "__heddle_runs_natively"

enum class EventKind : std::uint16_t {
  None = 0,
#define HEDDLE_EVENT(id, Name, text, access) Name = id,
#include "abi/events.def"
};

enum class StepKind : std::uint16_t {
  None = 0,
#define HEDDLE_STEP(id, Name, text) Name = id,
#include "abi/steps.def"
};

enum class Access : std::uint8_t { None, Read, Write, Update, Sync };

enum class FailureKind : std::uint16_t {
#define HEDDLE_FAILURE(id, Name, text, sentence) Name = id,
#include "abi/failures.def"
};

enum class ResetObstacle : std::uint32_t {
#define HEDDLE_RESET_OBSTACLE(id, Name, text) Name = id,
#include "abi/reset_obstacles.def"
};

/// Same values as the C ABI's (__ATOMIC_RELAXED ...), so that no table is needed on either side.
enum class MemoryOrder : std::uint32_t {
  Relaxed = 0,
  Consume = 1,
  Acquire = 2,
  Release = 3,
  AcquireRelease = 4,
  SequentiallyConsistent = 5,
};

enum class RmwOperation : std::uint32_t {
  Exchange,
  Add,
  Sub,
  And,
  Nand,
  Or,
  Xor,
  Max,
  Min,
  UnsignedMax,
  UnsignedMin,
};

/// Whether a loop goes on of which iterations are left out.
enum class GoesOn : std::uint32_t {
  NotKnown = 0,  // it is to be computed
  Yes = 1,       // the next iteration is left out together with the one that is over
  No = 2,        // all that follow are left out
};

using SiteId = std::uint32_t;

/// Sites that no instruction has. The first site the pass numbers is kFirstSite.
inline constexpr SiteId kUnknownSite = 0;
inline constexpr SiteId kThreadStartSite = 1;
inline constexpr SiteId kThreadExitSite = 2;
inline constexpr SiteId kFlushSite = 3;  // where a flusher decides; its events are at the stores'
inline constexpr SiteId kFirstSite = 16;
/// From here on: the instruction before a return address in code that the pass has not seen, by
/// that address relative to where the program is loaded.
inline constexpr SiteId kCodeSites = 0x80000000;

}  // namespace heddle::abi
