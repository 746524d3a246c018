// SPDX-License-Identifier: Apache-2.0
#include "runtime/entry/gate.h"
#include "runtime/entry/hooks.h"

void __heddle_shutters(Ptr bytes, U64 count, U32 first) {
  const heddle::runtime::Gate gate;
  if (gate) heddle::runtime::session().close_shutters(static_cast<U8*>(bytes), count, first);
}
