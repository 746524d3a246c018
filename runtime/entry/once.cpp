// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/once.h"

#include <threads.h>

#include "runtime/entry/entry.h"

using namespace heddle::runtime;

HEDDLE_ENTRY int pthread_once(pthread_once_t* control, void (*routine)()) {
  const Gate gate;
  if (!gate) return real().pthread_once(control, routine);
  return once_call(session(), control, routine, call_site());
}

HEDDLE_ENTRY void call_once(once_flag* flag, void (*routine)()) {
  // glibc's once_flag is a pthread_once_t in a struct.
  pthread_once(reinterpret_cast<pthread_once_t*>(flag), routine);
}
