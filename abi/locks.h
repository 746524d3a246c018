// SPDX-License-Identifier: Apache-2.0
//
// What events do to locks (abi/locks.def).
#pragma once

#include "abi/abi.h"

namespace heddle::abi {

enum class Locking : std::uint8_t { None, Takes, Shares, Releases, Waits };

constexpr Locking locking_of(EventKind kind) {
  switch (kind) {
#define HEDDLE_LOCKING(Name, does) \
  case EventKind::Name: return Locking::does;
#include "abi/locks.def"
    default: return Locking::None;
  }
}

/// Whether the event's thread has one lock more afterwards.
constexpr bool acquires_lock(EventKind kind, std::uint64_t value) {
  const Locking does = locking_of(kind);
  return (does == Locking::Takes || does == Locking::Shares) && value == 0;
}

}  // namespace heddle::abi
