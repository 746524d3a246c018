// SPDX-License-Identifier: Apache-2.0
//
// What compilers call by themselves. There is no libc in the restorer.
#include <cstddef>

extern "C" {

[[gnu::used]] void* memcpy(void* to, const void* from, std::size_t bytes) {
  void* const result = to;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
  return result;
}

[[gnu::used]] void* memset(void* to, int value, std::size_t bytes) {
  void* const result = to;
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
  return result;
}

[[gnu::used]] std::size_t strlen(const char* text) {
  std::size_t length = 0;
  for (; text[length] != 0; ++length) asm volatile("");  // else it becomes a call of itself
  return length;
}
}
