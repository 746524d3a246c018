// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "abi/abi.h"

namespace heddle::runtime {

/// True for addresses in the code of the program itself, which is instrumented; false for those in
/// libraries.
bool is_program_code(std::uint64_t address);

/// The site (abi::kCodeSites) of the program's call that returns there; unknown in libraries.
abi::SiteId code_site(const void* return_address);

}  // namespace heddle::runtime
