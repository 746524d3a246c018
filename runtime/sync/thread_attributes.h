// SPDX-License-Identifier: Apache-2.0
//
// What a program asks for when it creates a thread, as far as it means anything under control.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstddef>

namespace heddle::runtime {

struct ThreadAttributes {
  std::size_t stack_bytes = 0;  // at least
  bool detached = false;
  bool has_mask = false;
  sigset_t mask = {};
};

/// 0, or why libc would refuse to create such a thread. `attributes` may be nullptr.
int read_attributes(const pthread_attr_t* attributes, ThreadAttributes& out);

/// The program has set attributes for threads that are created with none.
void use_default_attributes();

}  // namespace heddle::runtime
