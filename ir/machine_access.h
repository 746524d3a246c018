// SPDX-License-Identifier: Apache-2.0
//
// Whether one machine instruction touches memory: as much of x86-64's encoding as that takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::ir {

enum class MachineAccess : std::uint8_t {
  None,  // registers only; also addresses that are computed but not used, hints, and calls, returns
         // and pushes, whose use of the stack is no operand
  Stack,  // beside the stack pointer: a variable, or a register that was put aside
  Other,
};

struct MachineOperand {
  MachineAccess access = MachineAccess::None;
  /// Bytes up to the end of the operand, where an instruction without a constant ends; 0 if there
  /// is none.
  std::size_t end = 0;
};

/// `code` begins with the instruction; what follows it does not matter. An encoding that is not
/// known, or cut short, touches nothing.
MachineOperand machine_operand(std::span<const std::uint8_t> code);

inline MachineAccess machine_access(std::span<const std::uint8_t> code) {
  return machine_operand(code).access;
}

}  // namespace heddle::ir
