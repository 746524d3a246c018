// SPDX-License-Identifier: Apache-2.0
//
// Registers as the kernel hands them out, to cores and to whoever traces a process.
#pragma once

#include <sys/user.h>

#include "ir/machine_state.h"

namespace heddle::ir {

inline Registers registers_of(const user_regs_struct& machine) {
  return {{machine.rax, machine.rdx, machine.rcx, machine.rbx, machine.rsi, machine.rdi,
           machine.rbp, machine.rsp, machine.r8, machine.r9, machine.r10, machine.r11, machine.r12,
           machine.r13, machine.r14, machine.r15, machine.rip}};
}

}  // namespace heddle::ir
