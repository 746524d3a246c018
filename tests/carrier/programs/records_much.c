// SPDX-License-Identifier: Apache-2.0
//
// So many events that the runtime asks for memory in between, which an execution after it in the
// same process finds there already. Looks at what each of its calls leaves in registers and below
// the stack pointer: nothing of it may tell.
#include <sched.h>
#include <stdio.h>

enum { kEvents = 4200 };

static unsigned long seen = 14695981039346656037ul;

static void look(unsigned long word) {
  seen = (seen ^ word) * 1099511628211ul;
}

__attribute__((noinline)) static void look_at_dead_stack(void) {
  unsigned long dead[64];
  unsigned long* at = dead;
  __asm__ volatile("" : "+r"(at));
  for (unsigned i = 0; i < sizeof dead / sizeof *dead; ++i) look(at[i]);
}

__attribute__((used)) static unsigned long left[8];

__attribute__((noinline)) static void yield(void) {
  __asm__ volatile(
      "movq %%rsp, %%rbx\n\t"
      "subq $128, %%rsp\n\t"  // the red zone
      "andq $-16, %%rsp\n\t"
      "call sched_yield@plt\n\t"
      "movq %%rbx, %%rsp\n\t"
      "movq %%rcx, 0+left(%%rip)\n\t"
      "movq %%rdx, 8+left(%%rip)\n\t"
      "movq %%rsi, 16+left(%%rip)\n\t"
      "movq %%rdi, 24+left(%%rip)\n\t"
      "movq %%r8, 32+left(%%rip)\n\t"
      "movq %%r9, 40+left(%%rip)\n\t"
      "movq %%r10, 48+left(%%rip)\n\t"
      "movq %%r11, 56+left(%%rip)"
      :
      :
      : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
  for (int i = 0; i < 8; ++i) look(left[i]);
}

int main(void) {
  sched_yield();  // bound now, whatever the order of things
  for (int i = 0; i < kEvents; ++i) {
    yield();
    look_at_dead_stack();
  }
  printf("%lx\n", seen);
  return 0;
}
