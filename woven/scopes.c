// SPDX-License-Identifier: Apache-2.0
//
// Which of the functions and locks that breakpoints ask about a thread is in, or has.
#include <stddef.h>
#include <stdint.h>

#include "abi/woven.h"

void __heddle_woven_enter(unsigned scope, const void* nothing);
void __heddle_woven_leave(unsigned scope, const void* nothing);
void __heddle_woven_take(unsigned scope, const void* lock);
void __heddle_woven_give(unsigned nothing, const void* lock);
int __heddle_woven_is_in(unsigned scope);

enum { kLocks = 64 };  // that a thread has at once; of more than that nothing is known

struct function {
  unsigned depth;
  uintptr_t outermost;  // where on the stack
};

struct held {
  const void* lock;
  unsigned scope;
};

static _Thread_local struct function functions[HEDDLE_WOVEN_SCOPES];
static _Thread_local struct held held[kLocks];
static _Thread_local unsigned held_count;

static inline __attribute__((always_inline)) uintptr_t here(void) {
  return (uintptr_t)__builtin_frame_address(0);
}

/// Exceptions and longjmp leave functions without a word: whoever is further up the stack than a
/// function is not in it any more.
void __heddle_woven_enter(unsigned scope, const void* nothing) {
  (void)nothing;
  struct function* const function = &functions[scope];
  if (function->depth && here() > function->outermost) function->depth = 0;
  if (!function->depth++) function->outermost = here();
}

void __heddle_woven_leave(unsigned scope, const void* nothing) {
  (void)nothing;
  if (functions[scope].depth) --functions[scope].depth;
}

void __heddle_woven_take(unsigned scope, const void* lock) {
  if (!lock || held_count == kLocks) return;
  held[held_count].lock = lock;
  held[held_count].scope = scope;
  ++held_count;
}

void __heddle_woven_give(unsigned nothing, const void* lock) {
  (void)nothing;
  for (unsigned i = held_count; i-- > 0;) {
    if (held[i].lock != lock) continue;
    for (--held_count; i < held_count; ++i) held[i] = held[i + 1];
    return;
  }
}

int __heddle_woven_is_in(unsigned scope) {
  const struct function* const function = &functions[scope];
  if (function->depth && here() <= function->outermost) return 1;
  for (unsigned i = 0; i < held_count; ++i) {
    if (held[i].scope == scope) return 1;
  }
  return 0;
}
