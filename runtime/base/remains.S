// SPDX-License-Identifier: Apache-2.0
//
// void heddle_call_apart(void (*function)(void*), void* argument, void* stack_top)
//   Calls on another stack, and leaves nothing in registers. Debuggers and unwinders see through it.
// void heddle_forget_registers()
//   Clears every register that the C ABI lets a function clobber.
#define CLEAR(register) pxor %register, %register

  .text
  .globl heddle_forget_registers
  .hidden heddle_forget_registers
  .type heddle_forget_registers, @function
heddle_forget_registers:
  .cfi_startproc
  CLEAR(xmm0); CLEAR(xmm1); CLEAR(xmm2); CLEAR(xmm3)
  CLEAR(xmm4); CLEAR(xmm5); CLEAR(xmm6); CLEAR(xmm7)
  CLEAR(xmm8); CLEAR(xmm9); CLEAR(xmm10); CLEAR(xmm11)
  CLEAR(xmm12); CLEAR(xmm13); CLEAR(xmm14); CLEAR(xmm15)
  xorl %eax, %eax
  xorl %ecx, %ecx
  xorl %edx, %edx
  xorl %esi, %esi
  xorl %edi, %edi
  xorl %r8d, %r8d
  xorl %r9d, %r9d
  xorl %r10d, %r10d
  xorl %r11d, %r11d
  ret
  .cfi_endproc
  .size heddle_forget_registers, . - heddle_forget_registers

  .globl heddle_call_apart
  .hidden heddle_call_apart
  .type heddle_call_apart, @function
heddle_call_apart:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdx, %rsp
  movq %rdi, %rax
  movq %rsi, %rdi
  call *%rax
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  jmp heddle_forget_registers
  .cfi_endproc
  .size heddle_call_apart, . - heddle_call_apart

  .section .note.GNU-stack, "", @progbits
