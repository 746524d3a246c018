// SPDX-License-Identifier: Apache-2.0
//
// breakpoint_c.h with HEDDLE_NO_BREAKPOINTS: the same names, nothing behind them.
#ifndef HEDDLE_DETAIL_BREAKPOINT_NONE_C_H_
#define HEDDLE_DETAIL_BREAKPOINT_NONE_C_H_

#include "breakpoint_types.h"

#define HEDDLE_BP_NOTHING static inline __attribute__((always_inline, unused))

HEDDLE_BP_NOTHING int heddle_bp_enabled(void) {
  return 0;
}
HEDDLE_BP_NOTHING int heddle_bp_arrive(const struct heddle_bp_arrival* arrival) {
  (void)arrival;
  return 0;
}
HEDDLE_BP_NOTHING void heddle_bp_end_turn(struct heddle_bp_turn* turn) {
  (void)turn;
}
HEDDLE_BP_NOTHING void heddle_bp_scope_enter(struct heddle_bp_scope* scope, const void* lock,
                                             const char* tag) {
  (void)scope, (void)lock, (void)tag;
}
HEDDLE_BP_NOTHING void heddle_bp_scope_leave(struct heddle_bp_scope* scope) {
  (void)scope;
}
HEDDLE_BP_NOTHING int heddle_bp_schedule_begin(struct heddle_bp_schedule* schedule,
                                               const char* point) {
  (void)schedule, (void)point;
  return -1;
}
HEDDLE_BP_NOTHING void heddle_bp_schedule_end(struct heddle_bp_schedule* schedule, int point) {
  (void)schedule, (void)point;
}
HEDDLE_BP_NOTHING int heddle_bp_schedule_followed(const struct heddle_bp_schedule* schedule) {
  (void)schedule;
  return 0;
}
HEDDLE_BP_NOTHING uint64_t heddle_bp_count_of(const char* name, enum heddle_bp_count which) {
  (void)name, (void)which;
  return 0;
}
HEDDLE_BP_NOTHING void heddle_bp_enable(int on) {
  (void)on;
}
HEDDLE_BP_NOTHING int heddle_bp_configure(const char* options) {
  (void)options;
  return 1;
}

#endif  // HEDDLE_DETAIL_BREAKPOINT_NONE_C_H_
