// SPDX-License-Identifier: Apache-2.0
//
// void heddle_fiber_switch(void** save_sp, void* next_sp, unsigned long next_fs)
//   Saves what the C ABI makes the callee preserve (including the floating-point control words),
//   changes stack and thread pointer, and returns on the other fiber.
// void heddle_fiber_enter(void* next_sp)
//   The second half of heddle_fiber_switch, for a thread that has its own thread pointer.
// void heddle_call_on_stack(void** save_sp, void* stack_top, void (*entry)())
//   Saves the same, in the same way, and calls a function that never returns on another stack.
//   heddle_fiber_switch to the saved stack pointer returns from this call.
// void heddle_call_saved(void** save_sp, void (*function)(void*), void* argument)
//   Saves the same, in the same way, and calls a function on the same stack: until it returns, the
//   caller can be looked at like a fiber that has been switched away from.
// heddle_fiber_first
//   Where a new fiber begins: no caller, and no unwind information, which ends stack walks here.
  .text
  .globl heddle_fiber_switch
  .hidden heddle_fiber_switch
  .type heddle_fiber_switch, @function
heddle_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  // Setting the control words is slow, and they are hardly ever different.
  movl (%rsp), %eax
  movzwl 4(%rsp), %ecx
  movq %rsi, %rsp
  wrfsbase %rdx
  cmpl %eax, (%rsp)
  jne 1f
  cmpw %cx, 4(%rsp)
  jne 1f
2:
  xorl %eax, %eax
  xorl %ecx, %ecx
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
1:
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  jmp 2b
  .size heddle_fiber_switch, . - heddle_fiber_switch

  .globl heddle_fiber_enter
  .hidden heddle_fiber_enter
  .type heddle_fiber_enter, @function
heddle_fiber_enter:
  movq %rdi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size heddle_fiber_enter, . - heddle_fiber_enter

  .globl heddle_call_on_stack
  .hidden heddle_call_on_stack
  .type heddle_call_on_stack, @function
heddle_call_on_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  xorl %ebp, %ebp
  call *%rdx
  ud2
  .size heddle_call_on_stack, . - heddle_call_on_stack

  .globl heddle_call_saved
  .hidden heddle_call_saved
  .type heddle_call_saved, @function
heddle_call_saved:
  .cfi_startproc
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbx, 0
  pushq %r12
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r12, 0
  pushq %r13
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r13, 0
  pushq %r14
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r14, 0
  pushq %r15
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r15, 0
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rdx, %rdi
  call *%rsi
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %r15
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r15
  popq %r14
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r14
  popq %r13
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r13
  popq %r12
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r12
  popq %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbx
  popq %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbp
  ret
  .cfi_endproc
  .size heddle_call_saved, . - heddle_call_saved

  .globl heddle_fiber_first
  .hidden heddle_fiber_first
  .type heddle_fiber_first, @function
heddle_fiber_first:
  xorl %ebp, %ebp
  call *%rbx
  ud2
  .size heddle_fiber_first, . - heddle_fiber_first

  .section .note.GNU-stack, "", @progbits
