// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi/abi.h"
#include "runtime/memory/program_code.h"

/// Set by instrumented code before each call that leaves it (abi/abi.h); stays 0 in a program that
/// heddle-cc has not built.
extern "C" std::uint32_t HEDDLE_CALL_SITE_SYMBOL;

namespace heddle::runtime {
/// The site of the call on whose behalf an entry point was reached: what instrumented code has
/// said, else the place behind the call in the program's code. Inlined, because it asks for the
/// entry point's own return address.
[[gnu::always_inline]] inline abi::SiteId call_site() {
  const abi::SiteId said = HEDDLE_CALL_SITE_SYMBOL;
  return said != abi::kUnknownSite ? said : code_site(__builtin_return_address(0));
}
}  // namespace heddle::runtime
