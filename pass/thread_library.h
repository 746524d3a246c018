// SPDX-License-Identifier: Apache-2.0
//
// What POSIX threads do with the pointers they are given. LLVM knows the C library only.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace heddle::pass {

enum class ThreadCall {
  None,      // not one of them
  Create,    // keeps its last argument, for the new thread
  Join,      // leaves behind what the thread returned
  UsesOnly,  // keeps nothing and leaves no pointer behind
};

ThreadCall thread_call(llvm::StringRef name);

}  // namespace heddle::pass
