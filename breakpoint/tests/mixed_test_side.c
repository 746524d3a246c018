// SPDX-License-Identifier: Apache-2.0
#include <heddle/breakpoint_c.h>

int arrive_from_c(const void* object);

int arrive_from_c(const void* object) {
  return heddle_bp_conflict("mixed", HEDDLE_SECOND, object, .pause_ms = 3600000);
}
