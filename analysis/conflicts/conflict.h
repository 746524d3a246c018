// SPDX-License-Identifier: Apache-2.0
//
// Conflict states (Park and Sen, "Concurrent Breakpoints", 2011, section 5): two threads about to
// touch the same memory, one of them writing, or the same synchronisation object. Depending on who
// goes first a program may end differently; which of them it is that matters, experiments tell.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/finding.h"
#include "analysis/pin/pin.h"

namespace heddle::analysis {

enum class ConflictKind : std::uint8_t {
  Race,       // plain memory, no lock in common
  Lifetime,   // one of them frees the memory or destroys the object
  Lock,       // a mutex, read-write lock or spin lock
  Condition,  // a wait and a notification without a lock in common
  Semaphore,
  Atomic,  // memory that both access atomically
};
/// "race", "lifetime", "lock", "condition", "semaphore", "atomic".
const char* to_text(ConflictKind kind);

/// A verdict of the experiments with one order.
enum class Effect : std::uint8_t {
  Untried,
  NotMet,    // hardly any run brought the two together
  Harmless,  // brought together, the program ends as it does otherwise
  Often,     // it fails more often than it does otherwise
  Fails,     // it fails nearly always when the breakpoint is hit, and hardly ever otherwise
  Elsewhere  // it fails, but without the breakpoint being hit: another conflict is behind it
};
/// "untried", "not-met", "harmless", "often", "fails", "elsewhere".
const char* to_text(Effect effect);

/// One way in which a conflict can end, and what came of it.
struct OrderTrial {
  bool is_reversed = false;  // Conflict::pair.second goes first
  trace::Pins pins;
  NativeRuns native;
  std::uint32_t controlled_runs = 0;  // steered so that the two met and went on in this order
  std::uint32_t controlled_failures = 0;
  Effect effect = Effect::Untried;
  /// What had to happen in an order, too, before this one made the program fail: who goes first
  /// and who second. Nothing: it was tried alone.
  std::optional<FoundPair> after;
};

struct Conflict {
  ConflictKind kind = ConflictKind::Race;
  FoundPair pair;
  /// Of a race: some run had the two side by side, with nothing to order them. False: only the
  /// locks say so (both are without a common one), and no run has shown it.
  bool observed = false;
  std::uint64_t runs = 0;         // in which it was seen
  std::size_t witness = 0;        // number of the run it was first seen in
  std::vector<Order> meeting[2];  // what brings the two together there, in either order
  std::vector<OrderTrial> orders;
  std::vector<FoundPair> about;  // of a lock: what is done under it that conflicts, or some of it
};

/// How likely it is to matter, as far as watching tells: least is likeliest. Races and ends of
/// lives that were observed, then synchronisation, then what only the locks suggest.
int standing(const Conflict& conflict);

/// FoundAccess::role of a thread that was woken and takes back the mutex of its wait.
inline constexpr const char* kWokenRole = "woken";

struct Conflicts {
  std::vector<Conflict> found;  // what explains most first
  std::size_t left_out = 0;     // not tried: too many
  std::uint64_t controlled_runs = 0;
  std::uint64_t recorded_runs = 0;
  std::map<std::string, std::uint64_t> controlled_failures;  // by signature
  NativeRuns without;                                        // the program as it is
};

}  // namespace heddle::analysis
