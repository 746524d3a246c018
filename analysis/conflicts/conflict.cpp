// SPDX-License-Identifier: Apache-2.0
#include "analysis/conflicts/conflict.h"

namespace heddle::analysis {

const char* to_text(ConflictKind kind) {
  switch (kind) {
    case ConflictKind::Race: return "race";
    case ConflictKind::Lifetime: return "lifetime";
    case ConflictKind::Lock: return "lock";
    case ConflictKind::Condition: return "condition";
    case ConflictKind::Semaphore: return "semaphore";
    case ConflictKind::Atomic: return "atomic";
  }
  return "unknown";
}

const char* to_text(Effect effect) {
  switch (effect) {
    case Effect::Untried: return "untried";
    case Effect::NotMet: return "not-met";
    case Effect::Harmless: return "harmless";
    case Effect::Often: return "often";
    case Effect::Fails: return "fails";
    case Effect::Elsewhere: return "elsewhere";
  }
  return "unknown";
}

int standing(const Conflict& conflict) {
  switch (conflict.kind) {
    case ConflictKind::Race:
    case ConflictKind::Lifetime: return conflict.observed ? 0 : 3;
    case ConflictKind::Condition: return 1;
    case ConflictKind::Lock:
    case ConflictKind::Semaphore:
    case ConflictKind::Atomic: return 2;
  }
  return 3;
}

}  // namespace heddle::analysis
