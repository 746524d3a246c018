// SPDX-License-Identifier: Apache-2.0
//
// Which memory has been used by which threads, over all executions of a search: an operation on
// something that no other thread was seen to use in conflict cannot be reordered with anything.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "driver/search/footprint.h"

namespace heddle::driver {

class Contention {
 public:
  /// True when this makes something contended that was not.
  bool note(const Footprint& footprint, std::uint64_t thread);
  /// Whether an operation of `thread` with this footprint may conflict with one of another thread.
  bool contended(const Footprint& footprint, std::uint64_t thread) const;

 private:
  /// 0: nobody; a thread's path hash; kSeveral.
  static constexpr std::uint64_t kSeveral = ~std::uint64_t{0};
  struct Users {
    std::uint64_t writer = 0;
    std::uint64_t reader = 0;
  };

  static bool add(std::uint64_t& user, std::uint64_t thread) {
    if (user == thread || user == kSeveral) return false;
    user = user == 0 ? thread : kSeveral;
    return true;
  }
  static bool another(std::uint64_t user, std::uint64_t thread) {
    return user != 0 && user != thread;
  }

  std::unordered_map<std::uint64_t, Users> units_;
  std::unordered_map<std::uint64_t, std::uint64_t> objects_;  // used as a whole, by whom
};

inline bool Contention::note(const Footprint& footprint, std::uint64_t thread) {
  if (footprint.object == 0 || footprint.memory == Touch::None) return false;
  bool changed = false;
  if (is_large(footprint)) changed |= add(objects_[footprint.object], thread);
  for_each_unit(footprint, [&](std::uint64_t unit) {
    Users& users = units_[unit];
    changed |= add(footprint.memory == Touch::Write ? users.writer : users.reader, thread);
  });
  return changed;
}

inline bool Contention::contended(const Footprint& footprint, std::uint64_t thread) const {
  if (footprint.all_sync == Touch::Write || is_large(footprint)) return true;
  const auto whole = objects_.find(footprint.object);
  if (whole != objects_.end() && another(whole->second, thread)) return true;
  bool result = false;
  for_each_unit(footprint, [&](std::uint64_t unit) {
    const auto found = units_.find(unit);
    if (found == units_.end()) return;
    result |= another(found->second.writer, thread);
    if (footprint.memory == Touch::Write) result |= another(found->second.reader, thread);
  });
  return result;
}

}  // namespace heddle::driver
