// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/thread_attributes.h"

#include <sched.h>

#include <cerrno>

#include "runtime/base/processors.h"

namespace heddle::runtime {
namespace {

constinit bool has_defaults = false;

/// Priorities mean nothing here, but a wrong one is a mistake that libc reports.
bool has_impossible_priority(const pthread_attr_t* attributes) {
  int inherits = 0;
  int policy = 0;
  sched_param parameters{};
  pthread_attr_getinheritsched(attributes, &inherits);
  pthread_attr_getschedpolicy(attributes, &policy);
  pthread_attr_getschedparam(attributes, &parameters);
  if (inherits != PTHREAD_EXPLICIT_SCHED) return false;
  return parameters.sched_priority < sched_get_priority_min(policy) ||
         parameters.sched_priority > sched_get_priority_max(policy);
}

/// The same for processors, of which at least one must exist.
bool has_impossible_processors(const pthread_attr_t* attributes) {
  constexpr std::size_t kBytes = 1024;
  alignas(cpu_set_t) unsigned char wanted[kBytes];
  alignas(cpu_set_t) unsigned char present[kBytes] = {};
  if (pthread_attr_getaffinity_np(attributes, kBytes, reinterpret_cast<cpu_set_t*>(wanted)) != 0) {
    return true;  // one that is beyond anything
  }
  if (given_processors(kBytes, present) <= 0) return false;
  for (std::size_t i = 0; i < kBytes; ++i) {
    if ((wanted[i] & present[i]) != 0) return false;
  }
  return true;
}

int read_given(const pthread_attr_t* attributes, ThreadAttributes& out) {
  if (has_impossible_priority(attributes) || has_impossible_processors(attributes)) return EINVAL;
  int detach_state = PTHREAD_CREATE_JOINABLE;
  pthread_attr_getdetachstate(attributes, &detach_state);
  out.detached = detach_state == PTHREAD_CREATE_DETACHED;
  pthread_attr_getstacksize(attributes, &out.stack.bytes);
  void* lowest = nullptr;
  std::size_t bytes = 0;
  // Without a stack of the program's own libc gives the size below address 0.
  if (pthread_attr_getstack(attributes, &lowest, &bytes) == 0 &&
      reinterpret_cast<std::uint64_t>(lowest) + bytes != 0) {
    out.stack = {bytes, lowest};
  }
  out.has_mask = pthread_attr_getsigmask_np(attributes, &out.mask) == 0;
  return 0;
}

}  // namespace

int read_attributes(const pthread_attr_t* attributes, ThreadAttributes& out) {
  if (attributes != nullptr) return read_given(attributes, out);
  if (!has_defaults) return 0;
  pthread_attr_t defaults;
  if (pthread_getattr_default_np(&defaults) != 0) return 0;
  const int error = read_given(&defaults, out);
  pthread_attr_destroy(&defaults);
  return error;
}

void use_default_attributes() {
  has_defaults = true;
}

}  // namespace heddle::runtime
