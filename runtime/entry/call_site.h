// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi/abi.h"

/// Set by instrumented code before each call that leaves it (abi/abi.h).
extern "C" std::uint32_t HEDDLE_CALL_SITE_SYMBOL;

namespace heddle::runtime {
/// The site of the instrumented call on whose behalf an entry point was reached.
inline abi::SiteId call_site() {
  return HEDDLE_CALL_SITE_SYMBOL;
}
}  // namespace heddle::runtime
