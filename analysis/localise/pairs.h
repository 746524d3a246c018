// SPDX-License-Identifier: Apache-2.0
//
// Access pairs (LOCON, 2.1): immediate dependences R→W, W→R, W→W between two threads on the same
// bytes. `first` and `second` are one when they conflict on a byte and nothing in between makes the
// dependence an indirect one: no write to that byte, no access of `first`'s thread that conflicts
// with `second`, none of `second`'s that conflicts with `first`. Pairs that program order, creation
// or joining of threads forces are none: no schedule could change them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/localise/accesses.h"

namespace heddle::analysis {

/// An access pair of one execution: two events.
struct PairInstance {
  std::size_t first = 0;
  std::size_t second = 0;
  bool operator==(const PairInstance&) const = default;
};

/// All of them, by their second event.
std::vector<PairInstance> immediate_pairs(const Accesses& accesses);

/// How much of an access its name says (LOCON, 4.3).
enum class Level : std::uint8_t { Pc, Tid, Loop };
/// "PC", "TID", "LOOP".
const char* to_text(Level level);

/// An access by names that hold in every execution.
struct AccessName {
  std::string site;
  std::string thread;
  Role role = Role::None;
  auto operator<=>(const AccessName&) const = default;
};

struct PairName {
  AccessName first;
  AccessName second;
  std::string variable;  // where it was first seen, not part of the identity
};

/// Numbers for the pairs of many executions. Ids are dense; each belongs to one PC id, which leaves
/// the threads out.
class PairTable {
 public:
  std::uint32_t intern(const PairName& name);
  const PairName& name(std::uint32_t id) const { return names_[id]; }
  std::uint32_t pc(std::uint32_t id) const { return pc_of_[id]; }
  /// The same accesses the other way round; interned when new.
  std::uint32_t reversed(std::uint32_t id);
  std::size_t size() const { return names_.size(); }

 private:
  std::map<std::pair<AccessName, AccessName>, std::uint32_t> ids_;
  std::map<std::pair<AccessName, AccessName>, std::uint32_t> pc_ids_;
  std::vector<PairName> names_;
  std::vector<std::uint32_t> pc_of_;
};

/// How often each side's thread had been there: a loop's iteration where the site is in one.
using Iterations = std::pair<std::uint32_t, std::uint32_t>;

/// One pair as one execution shows it.
struct SeenPair {
  std::uint32_t id = 0;
  PairInstance at;  // the first of them
  std::vector<Iterations> iterations;
};

/// The pairs of one execution, each once, in the order of their first occurrence.
struct RunPairs {
  std::vector<SeenPair> seen;
  std::map<std::uint32_t, std::size_t> by_id;               // index in `seen`
  std::map<std::uint32_t, std::vector<std::size_t>> by_pc;  // indices in `seen`
  bool has(std::uint32_t id) const { return by_id.contains(id); }
  bool has_pc(std::uint32_t pc) const { return by_pc.contains(pc); }
};

RunPairs collect_pairs(const Accesses& accesses, const std::vector<PairInstance>& instances,
                       PairTable& table);

}  // namespace heddle::analysis
