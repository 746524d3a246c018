// SPDX-License-Identifier: Apache-2.0
//
// void heddle_once_routine(void (*routine)())
//   Calls the routine from a frame whose personality is heddle_once_personality (once.cpp).
  .text
  .globl heddle_once_routine
  .hidden heddle_once_routine
  .type heddle_once_routine, @function
heddle_once_routine:
  .cfi_startproc
  .cfi_personality 0x1b, heddle_once_personality  // relative to its place, 4 bytes
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call *%rdi
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size heddle_once_routine, . - heddle_once_routine

  .section .note.GNU-stack, "", @progbits
