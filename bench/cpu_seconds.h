// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

/// CPU time of this process (RUSAGE_SELF) or of its children so far.
inline double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}
