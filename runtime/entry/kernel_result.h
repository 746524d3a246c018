// SPDX-License-Identifier: Apache-2.0
//
// Between system calls, whose arguments and results are words, and libc's functions.
#pragma once

#include <cerrno>

namespace heddle::runtime {

/// What a function of libc returns for it: -1, and the error in errno.
inline long result_of(long kernel_result) {
  if (kernel_result >= 0) return kernel_result;
  errno = static_cast<int>(-kernel_result);
  return -1;
}

inline int int_result_of(long kernel_result) {
  return static_cast<int>(result_of(kernel_result));
}

template <typename T>
long word(const T* pointer) {
  return reinterpret_cast<long>(pointer);
}

}  // namespace heddle::runtime
