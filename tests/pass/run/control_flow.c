// SPDX-License-Identifier: Apache-2.0
// Control flow the rewriting must not disturb: setjmp, varargs, computed goto, tail calls, indirect
// functions, inline assembly, signal handlers, thread-locals, recursion.
// HOOKS: __heddle_load4 __heddle_store4
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

int global = 1;
static _Thread_local int counted;
_Thread_local int visible;
static jmp_buf back;
static volatile sig_atomic_t signalled;

static int narrow(int x) {
  return x + global;
}
static int (*choose(void))(int) {
  return narrow;
}
int chosen(int) __attribute__((ifunc("choose")));

static void jump(int depth) {
  if (depth == 0) longjmp(back, global + 41);
  global++;
  jump(depth - 1);
}

static int sum(int count, ...) {
  va_list list;
  va_start(list, count);
  int total = 0;
  for (int i = 0; i < count; ++i) total += (i & 1) ? (int)va_arg(list, double) : va_arg(list, int);
  va_end(list);
  return total;
}

static int odd(int n);
__attribute__((noinline)) static int even(int n) {
  global ^= n;
  if (n == 0) return 1;
  __attribute__((musttail)) return odd(n - 1);
}
__attribute__((noinline)) static int odd(int n) {
  global += n;
  if (n == 0) return 0;
  __attribute__((musttail)) return even(n - 1);
}

static int interpret(const char* code) {
  static const void* labels[] = {&&halt, &&increment, &&twice, &&remember};
  int accumulator = 1;
  goto* labels[(int)*code++];
increment:
  accumulator++;
  goto* labels[(int)*code++];
twice:
  accumulator *= 2;
  goto* labels[(int)*code++];
remember:
  global = accumulator;
  goto* labels[(int)*code++];
halt:
  return accumulator;
}

static void on_signal(int number) {
  signalled = number;
}

int main(void) {
  volatile int kept = 5;
  const int came = setjmp(back);
  if (came == 0) {
    kept = 6;
    jump(3);
  }
  printf("%d %d %d\n", came, kept, global);
  printf("%d\n", sum(4, 1, 2.5, 3, 4.5));
  printf("%d %d\n", even(1000001), global);
  printf("%d %d\n", interpret("\1\2\2\3\1\0"), global);
  printf("%d\n", chosen(10));
  int through_assembly = global;
  __asm__ volatile("addl $7, %0" : "+m"(global) : : "memory");
  printf("%d\n", global - through_assembly);
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  printf("%d\n", signalled == SIGUSR1);
  for (int i = 0; i < 5; ++i) counted += i, visible -= i;
  printf("%d %d\n", counted, visible);
  return 3;
}
