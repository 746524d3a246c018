// SPDX-License-Identifier: Apache-2.0
//
// futex(2) between threads of this process: what std::atomic::wait, std::future, static-variable
// guards, latches and semaphores of libstdc++ and libc++ stand on.
//
// A wait is two events: futex_wait (the word is compared and the thread begins to wait) and
// futex_resume (it was woken, or timed out). As with condition variables, whether a time-out comes
// before the wake-up is the strategy's decision.
#pragma once

#include <ctime>

#include "runtime/session/session.h"

namespace heddle::runtime {

/// The system call's arguments, named as futex(2) names them.
struct FutexCall {
  std::uint32_t* word;
  int operation;
  std::uint32_t value;
  const timespec* timeout;  // value2 instead, for the operations that take a second count
  std::uint32_t* word2;
  std::uint32_t value3;

  std::uint32_t value2() const {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(timeout));
  }
};

/// Returns what the kernel would: a count, or an errno as a negative number.
long futex_call(Session& session, const FutexCall& call, abi::SiteId site);

}  // namespace heddle::runtime
