/* SPDX-License-Identifier: Apache-2.0 */
/* A check that stays in every build and says what was wrong. */
#pragma once

#include <stdio.h>
#include <unistd.h>

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      fflush(NULL);                                                           \
      _exit(3);                                                               \
    }                                                                         \
  } while (0)
