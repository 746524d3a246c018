// SPDX-License-Identifier: Apache-2.0
//
// Tells Heddle which blocks of a test are repetitions that may be superfluous. For C11 and C++,
// header-only; without Heddle's runtime the block just runs.
//
//   for (int i = 0; i < rounds; ++i) {
//     HEDDLE_REPEAT("create and drop a view") {
//       create_view();
//       drop_view();
//     }
//   }
//
// `heddle reduce` then tries to do without iterations of the block, thread by thread, and keeps
// those that the failure needs. The block must leave nothing behind that what follows it relies on
// in every case (the criterion of `heddle reduce` notices where it does, and keeps the iteration).
// `continue` in it ends the iteration; `break` leaves the block, not the loop around it.
#ifndef HEDDLE_ANNOTATE_H_
#define HEDDLE_ANNOTATE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Heddle's runtime defines them; elsewhere they are null.
__attribute__((weak)) uint32_t __heddle_iteration_begin(const char* name);
__attribute__((weak)) void __heddle_iteration_end(uint32_t iteration);

#ifdef __cplusplus
}
#endif

/// The number of the iteration that begins; 0: leave it out.
static inline __attribute__((always_inline)) uint32_t heddle_iteration_begin(const char* name) {
  return __heddle_iteration_begin != 0 ? __heddle_iteration_begin(name) : 1;
}

/// However the block is left: at its end, by return, goto or an exception.
static inline __attribute__((always_inline)) void heddle_iteration_end(const uint32_t* iteration) {
  if (*iteration != 0 && __heddle_iteration_end != 0) __heddle_iteration_end(*iteration);
}

#define HEDDLE_ANNOTATE_JOIN2(a, b) a##b
#define HEDDLE_ANNOTATE_JOIN(a, b) HEDDLE_ANNOTATE_JOIN2(a, b)
#define HEDDLE_REPEAT_AS(name, iteration, once)                                       \
  for (uint32_t iteration                                                             \
       __attribute__((cleanup(heddle_iteration_end))) = heddle_iteration_begin(name), \
       once = iteration != 0;                                                         \
       once != 0; once = 0)
#define HEDDLE_REPEAT(name)                                                 \
  HEDDLE_REPEAT_AS(name, HEDDLE_ANNOTATE_JOIN(heddle_iteration_, __LINE__), \
                   HEDDLE_ANNOTATE_JOIN(heddle_once_, __LINE__))

#endif  // HEDDLE_ANNOTATE_H_
