// SPDX-License-Identifier: Apache-2.0
//
// Whether one machine instruction touches memory: as much of x86-64's encoding as that takes.
#pragma once

#include <cstdint>
#include <span>

namespace heddle::ir {

enum class MachineAccess : std::uint8_t {
  None,  // registers only; also addresses that are computed but not used, hints, and calls, returns
         // and pushes, whose use of the stack is no operand
  Stack,  // beside the stack pointer: a variable, or a register that was put aside
  Other,
};

/// `code` begins with the instruction; what follows it does not matter. An encoding that is not
/// known, or cut short, touches nothing.
MachineAccess machine_access(std::span<const std::uint8_t> code);

}  // namespace heddle::ir
