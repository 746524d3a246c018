// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace heddle::runtime {

/// True for addresses in the code of the program itself, which is instrumented; false for those in
/// libraries.
bool is_program_code(std::uint64_t address);

}  // namespace heddle::runtime
