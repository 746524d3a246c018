// SPDX-License-Identifier: Apache-2.0
//
// What an event touches, in words that mean the same in every run, and whether the order of two
// events can matter. On the safe side: operations whose effects are not known in detail are ordered
// with all synchronisation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "driver/channel.h"

namespace heddle::driver {

/// An access that orders nothing.
inline bool is_plain(abi::EventKind kind) {
  return kind == abi::EventKind::Load || kind == abi::EventKind::Store ||
         kind == abi::EventKind::RangeRead || kind == abi::EventKind::RangeWrite;
}

enum class Touch : std::uint8_t { None, Read, Write };

struct Footprint {
  std::uint64_t object = 0;  // 0: no memory
  std::uint64_t begin = 0;   // bytes [begin, end) of it
  std::uint64_t end = 0;
  Touch memory = Touch::None;
  Touch all_sync = Touch::None;  // mutexes read it, everything that is more than a mutex writes it

  bool synchronises() const { return all_sync != Touch::None; }
  bool touches_anything() const { return memory != Touch::None || all_sync != Touch::None; }
};

inline bool conflict(Touch a, Touch b) {
  return a != Touch::None && b != Touch::None && (a == Touch::Write || b == Touch::Write);
}

inline bool dependent(const Footprint& a, const Footprint& b) {
  if (conflict(a.all_sync, b.all_sync)) return true;
  return a.object != 0 && a.object == b.object && a.begin < b.end && b.begin < a.end &&
         conflict(a.memory, b.memory);
}

/// Footprints of one execution's events.
class Footprints {
 public:
  explicit Footprints(const Channel& channel);
  Footprint of(const abi::EventRecord& event) const;
  std::uint64_t thread_hash(abi::ThreadIndex thread) const {
    return thread < threads_.size() ? threads_[thread].hash : 0;
  }

 private:
  std::span<const abi::ThreadRecord> threads_;
  std::vector<std::uint64_t> objects_;  // by index, their keys
};

/// The units of eight bytes a footprint covers, as keys; a very large one covers none but says so.
inline constexpr std::uint64_t kMostUnits = 64;

inline bool is_large(const Footprint& footprint) {
  return footprint.end - footprint.begin > kMostUnits * 8;
}

template <typename Visit>
void for_each_unit(const Footprint& footprint, Visit visit) {
  if (footprint.object == 0 || is_large(footprint)) return;
  for (std::uint64_t unit = footprint.begin / 8; unit * 8 < footprint.end; ++unit) {
    visit(abi::path_hash(footprint.object, unit));
  }
}

}  // namespace heddle::driver
