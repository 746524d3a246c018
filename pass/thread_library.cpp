// SPDX-License-Identifier: Apache-2.0
#include "pass/thread_library.h"

#include "llvm/ADT/StringSwitch.h"

namespace heddle::pass {

ThreadCall thread_call(llvm::StringRef name) {
  return llvm::StringSwitch<ThreadCall>(name)
      .Case("pthread_create", ThreadCall::Create)
      .Cases("pthread_join", "pthread_tryjoin_np", "pthread_timedjoin_np", ThreadCall::Join)
      .Cases("pthread_mutex_init", "pthread_mutex_destroy", "pthread_mutex_lock",
             "pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_mutex_unlock",
             ThreadCall::UsesOnly)
      .Cases("pthread_cond_init", "pthread_cond_destroy", "pthread_cond_wait",
             "pthread_cond_timedwait", "pthread_cond_signal", "pthread_cond_broadcast",
             ThreadCall::UsesOnly)
      .Cases("pthread_rwlock_init", "pthread_rwlock_destroy", "pthread_rwlock_rdlock",
             "pthread_rwlock_tryrdlock", "pthread_rwlock_wrlock", "pthread_rwlock_trywrlock",
             "pthread_rwlock_unlock", ThreadCall::UsesOnly)
      .Cases("pthread_barrier_init", "pthread_barrier_destroy", "pthread_barrier_wait",
             ThreadCall::UsesOnly)
      .Cases("pthread_spin_init", "pthread_spin_destroy", "pthread_spin_lock",
             "pthread_spin_trylock", "pthread_spin_unlock", ThreadCall::UsesOnly)
      .Cases("sem_init", "sem_destroy", "sem_wait", "sem_trywait", "sem_timedwait", "sem_post",
             "sem_getvalue", ThreadCall::UsesOnly)
      .Cases("pthread_attr_init", "pthread_attr_destroy", "pthread_attr_setdetachstate",
             "pthread_attr_setstacksize", "pthread_mutexattr_init", "pthread_mutexattr_destroy",
             "pthread_mutexattr_settype", ThreadCall::UsesOnly)
      .Cases("clock_gettime", "nanosleep", "clock_nanosleep", ThreadCall::UsesOnly)
      .Default(ThreadCall::None);
}

}  // namespace heddle::pass
