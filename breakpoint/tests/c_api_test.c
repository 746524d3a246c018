// SPDX-License-Identifier: Apache-2.0
//
// The C interface. Plain C11 without a framework: also built against musl.
#include <heddle/breakpoint_c.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

enum { kForeverMs = 3600000 };

static int object, other;
static int shared;  // plain: turns order the accesses
static int hits[3];

static void run(void* (*one)(void*), void* (*two)(void*)) {
  pthread_t threads[2];
  hits[0] = hits[1] = 0;
  pthread_create(&threads[0], 0, one, 0);
  pthread_create(&threads[1], 0, two, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
}

static void* conflict_first(void* arg) {
  hits[0] = heddle_bp_conflict("conflict", HEDDLE_FIRST, &object, .pause_ms = kForeverMs);
  return arg;
}
static void* conflict_second(void* arg) {
  hits[1] = heddle_bp_conflict("conflict", HEDDLE_SECOND, &object, .pause_ms = kForeverMs);
  return arg;
}

static void* deadlock_first(void* arg) {
  hits[0] = heddle_bp_deadlock("deadlock", HEDDLE_FIRST, &object, &other, .pause_ms = kForeverMs);
  return arg;
}
static void* deadlock_second(void* arg) {
  hits[1] = heddle_bp_deadlock("deadlock", HEDDLE_SECOND, &other, &object, .pause_ms = kForeverMs);
  return arg;
}

static void* turn_first(void* arg) {
  struct heddle_bp_turn turn = {0};
  hits[0] =
      heddle_bp_conflict("turn", HEDDLE_FIRST, &object, .pause_ms = kForeverMs, .turn = &turn);
  shared = 1;
  heddle_bp_end_turn(&turn);
  return arg;
}
static void* turn_second(void* arg) {
  hits[1] = heddle_bp_conflict("turn", HEDDLE_SECOND, &object, .pause_ms = kForeverMs);
  shared *= 10;
  return arg;
}

static int is_sum_ten(const void* const* states, const void* arg) {
  return *(const int*)states[0] + *(const int*)states[1] == *(const int*)arg;
}
static int is_enabled(const void* arg) {
  return *(const int*)arg;
}

static int arrive_with_state(unsigned side, int state, int local, double pause_ms) {
  static const int kTen = 10;
  return heddle_bp_at("state", side, .state = &state, .state_size = sizeof state, .type = "int",
                      .local = is_enabled, .local_arg = &local, .global = is_sum_ten,
                      .global_arg = &kTen, .pause_ms = pause_ms);
}
static void* state_first(void* arg) {
  hits[0] = arrive_with_state(0, 3, 1, kForeverMs);
  return arg;
}
static void* state_second(void* arg) {
  CHECK(!arrive_with_state(1, 7, 0, kForeverMs));  // its local predicate is false
  CHECK(!arrive_with_state(1, 8, 1, 1));           // 3 + 8 is not ten
  hits[1] = arrive_with_state(1, 7, 1, kForeverMs);
  return arg;
}

static const char* const kPoints[] = {"a", "b", "c"};
static struct heddle_bp_schedule schedule = {"schedule", kPoints, 3, 0, 0, kForeverMs, 0};

static void step(const char* point, int factor, int summand) {
  int at = heddle_bp_schedule_begin(&schedule, point);
  shared = shared * factor + summand;
  heddle_bp_schedule_end(&schedule, at);
}
static void* steps_a_c(void* arg) {
  step("a", 0, 1);
  step("c", 10, 3);
  return arg;
}
static void* step_b(void* arg) {
  step("b", 10, 2);
  return arg;
}

static void check_scopes(void) {
  struct heddle_bp_scope lock, context;
  heddle_bp_at("scoped", 0, .holding = &object, .pause_ms = 1);
  heddle_bp_at("scoped", 0, .context = "loading", .pause_ms = 1);
  CHECK(heddle_bp_count_of("scoped", HEDDLE_BP_ARRIVALS) == 0);
  heddle_bp_scope_enter(&lock, &object, 0);
  heddle_bp_scope_enter(&context, 0, "loading");
  heddle_bp_at("scoped", 0, .holding = &object, .pause_ms = 1);
  heddle_bp_at("scoped", 0, .context = "loading", .pause_ms = 1);
  heddle_bp_scope_leave(&lock);
  heddle_bp_scope_leave(&context);
  CHECK(heddle_bp_count_of("scoped", HEDDLE_BP_ARRIVALS) == 2);
}

int main(void) {
  run(conflict_second, conflict_first);
  CHECK(hits[0] && hits[1]);
  CHECK(heddle_bp_count_of("conflict", HEDDLE_BP_HITS) == 1);

  run(deadlock_first, deadlock_second);
  CHECK(hits[0] && hits[1]);

  run(turn_second, turn_first);
  CHECK(hits[0] && hits[1]);
  CHECK(shared == 10);

  run(state_first, state_second);
  CHECK(hits[0] && hits[1]);

  run(step_b, steps_a_c);
  CHECK(shared == 123);
  CHECK(heddle_bp_schedule_followed(&schedule));

  check_scopes();

  // Atomicity and missed notification are conflicts with names for their sides.
  CHECK(!heddle_bp_atomicity("atomicity", HEDDLE_INTRUDER, &object, .pause_ms = 1));
  CHECK(!heddle_bp_missed_notification("missed", HEDDLE_WAITER, &object, .pause_ms = 1));

  heddle_bp_enable(0);
  CHECK(!heddle_bp_conflict("off", HEDDLE_FIRST, &object));
  CHECK(heddle_bp_count_of("off", HEDDLE_BP_ARRIVALS) == 0);
  return 0;
}
