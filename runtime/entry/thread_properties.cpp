// SPDX-License-Identifier: Apache-2.0
//
// Names, processors and priorities of threads. libc would ask the kernel about a kernel thread of
// the thread's own, which it does not have. Names are kept; where and how eagerly a thread runs is
// the strategy's business, so what is asked for is accepted and changes nothing.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/text.h"
#include "runtime/entry/entry.h"
#include "runtime/sync/thread.h"
#include "runtime/sync/thread_attributes.h"

using namespace heddle::runtime;
namespace abi = heddle::abi;

namespace {

constexpr std::size_t kNameBytes = 16;
constinit char names[abi::kMaxThreads][kNameBytes] = {};

bool exists(pthread_t handle) {
  return find_thread_by_handle(session(), handle) != nullptr;
}

}  // namespace

HEDDLE_ENTRY int pthread_setname_np(pthread_t handle, const char* name) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_setname_np(handle, name);
  const Thread* const thread = find_thread_by_handle(session(), handle);
  if (thread == nullptr) return ESRCH;
  if (std::strlen(name) >= kNameBytes) return ERANGE;
  copy_text(names[thread->index], name);
  return 0;
}

HEDDLE_ENTRY int pthread_getname_np(pthread_t handle, char* name, std::size_t room) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_getname_np(handle, name, room);
  const Thread* const thread = find_thread_by_handle(session(), handle);
  if (thread == nullptr) return ESRCH;
  if (room < kNameBytes) return ERANGE;
  if (names[thread->index][0] == 0) return real().pthread_getname_np(pthread_self(), name, room);
  copy_text(name, room, names[thread->index]);
  return 0;
}

HEDDLE_ENTRY int pthread_setaffinity_np(pthread_t handle, std::size_t bytes,
                                        const cpu_set_t* set) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_setaffinity_np(handle, bytes, set);
  return exists(handle) ? 0 : ESRCH;
}

HEDDLE_ENTRY int pthread_getaffinity_np(pthread_t handle, std::size_t bytes,
                                        cpu_set_t* set) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_getaffinity_np(handle, bytes, set);
  if (!exists(handle)) return ESRCH;
  return sched_getaffinity(0, bytes, set) == 0 ? 0 : errno;
}

HEDDLE_ENTRY int pthread_setschedparam(pthread_t handle, int policy,
                                       const sched_param* parameters) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_setschedparam(handle, policy, parameters);
  return exists(handle) ? 0 : ESRCH;
}

HEDDLE_ENTRY int pthread_getschedparam(pthread_t handle, int* policy,
                                       sched_param* parameters) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_getschedparam(handle, policy, parameters);
  if (!exists(handle)) return ESRCH;
  *policy = SCHED_OTHER;
  *parameters = {};
  return 0;
}

HEDDLE_ENTRY int pthread_setattr_default_np(const pthread_attr_t* attributes) noexcept {
  static const auto next = reinterpret_cast<int (*)(const pthread_attr_t*)>(
      dlsym(RTLD_NEXT, "pthread_setattr_default_np"));
  const Gate gate;
  const int error = next(attributes);
  if (gate && error == 0) use_default_attributes();
  return error;
}

HEDDLE_ENTRY int pthread_setschedprio(pthread_t handle, int priority) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_setschedprio(handle, priority);
  return exists(handle) ? 0 : ESRCH;
}

HEDDLE_ENTRY int pthread_getcpuclockid(pthread_t handle, clockid_t* clock) noexcept {
  const Gate gate;
  if (!gate) return real().pthread_getcpuclockid(handle, clock);
  if (!exists(handle)) return ESRCH;
  *clock = CLOCK_THREAD_CPUTIME_ID;  // all clocks show the same time anyway
  return 0;
}
