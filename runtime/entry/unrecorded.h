// SPDX-License-Identifier: Apache-2.0
//
// An entry point uses something that recordings do not hold.
#pragma once

#include "runtime/entry/gate.h"
#include "runtime/environment/environment.h"

namespace heddle::runtime {

inline void note_unrecorded(abi::UnrecordedSource source) {
  const Gate gate;
  if (gate) note_source(session(), source);
}

/// Only if the descriptor leads out of the program.
inline void note_unrecorded(abi::UnrecordedSource source, int descriptor) {
  const Gate gate;
  if (gate && is_outside(session(), descriptor)) note_source(session(), source);
}

}  // namespace heddle::runtime
