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
  movq %rsi, %rsp
  wrfsbase %rdx
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

  .globl heddle_fiber_first
  .hidden heddle_fiber_first
  .type heddle_fiber_first, @function
heddle_fiber_first:
  xorl %ebp, %ebp
  call *%rbx
  ud2
  .size heddle_fiber_first, . - heddle_fiber_first

  .section .note.GNU-stack, "", @progbits
