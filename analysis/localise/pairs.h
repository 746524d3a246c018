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

/// Numbers for the pairs of many executions, and for the rounds of loops they are seen in. Ids are
/// dense; each belongs to one PC id, which leaves the threads out.
class PairTable {
 public:
  /// Whether the executions tell of their loops. If not, an access is in as many rounds as its
  /// thread has been at its site.
  explicit PairTable(bool tells_loops) : tells_loops_(tells_loops) {}

  bool tells_loops() const { return tells_loops_; }
  RoundTable& rounds() { return rounds_; }
  const RoundTable& rounds() const { return rounds_; }
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
  const bool tells_loops_;
  RoundTable rounds_;
};

/// In which round of the loops around it each side was done: numbers of the table's.
using Rounds = std::pair<std::uint32_t, std::uint32_t>;

/// One pair as one execution shows it.
struct SeenPair {
  std::uint32_t id = 0;
  PairInstance at;             // the first of them
  std::vector<Rounds> rounds;  // the first different ones
};

/// The pairs of one execution, each once, in the order of their first occurrence.
struct RunPairs {
  std::vector<SeenPair> seen;
  std::unordered_map<std::uint32_t, std::size_t> by_id;               // index in `seen`
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_pc;  // indices in `seen`
  bool has(std::uint32_t id) const { return by_id.contains(id); }
  bool has_pc(std::uint32_t pc) const { return by_pc.contains(pc); }
};

/// What the pairs of one execution are called in a table.
class PairNames {
 public:
  PairNames(const Accesses& accesses, PairTable& table);
  std::uint32_t id(const PairInstance& instance);
  Rounds rounds(const PairInstance& instance);

 private:
  std::uint64_t side(std::size_t event) const;
  AccessName name(std::size_t event) const;
  std::uint32_t round(std::size_t event);
  std::uint32_t round_number(std::uint32_t local);

  const Accesses& accesses_;
  PairTable& table_;
  struct Hash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& sides) const;
  };
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t, Hash> ids_;
  std::vector<std::uint32_t> numbers_;  // of the execution's own rounds, + 1; 0: not known yet
};

RunPairs collect_pairs(const Accesses& accesses, const std::vector<PairInstance>& instances,
                       PairTable& table);

}  // namespace heddle::analysis
