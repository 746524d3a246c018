// SPDX-License-Identifier: Apache-2.0
//
// Text into fixed buffers, without stdio (whose locks belong to the program).
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::runtime {

/// Copies as much of `from` as fits; always zero-terminated.
inline void copy_text(char* to, std::size_t capacity, const char* from) {
  std::size_t i = 0;
  for (; from != nullptr && from[i] != 0 && i + 1 < capacity; ++i) to[i] = from[i];
  to[i] = 0;
}

template <std::size_t N>
void copy_text(char (&to)[N], const char* from) {
  copy_text(to, N, from);
}

inline bool same_text(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

/// Appends to a zero-terminated buffer.
template <std::size_t N>
void append_text(char (&to)[N], const char* from) {
  std::size_t length = 0;
  while (to[length] != 0) ++length;
  copy_text(to + length, N - length, from);
}

/// The number written at `at`, which is behind it afterwards. `base` is at most 16.
inline std::uint64_t read_number(const char*& at, unsigned base) {
  std::uint64_t number = 0;
  for (;; ++at) {
    unsigned digit = 16;
    if (*at >= '0' && *at <= '9') digit = static_cast<unsigned>(*at - '0');
    if (*at >= 'a' && *at <= 'f') digit = static_cast<unsigned>(*at - 'a') + 10;
    if (digit >= base) return number;
    number = number * base + digit;
  }
}

/// FNV-1a, the hash that stands for values too wide for an event record.
inline std::uint64_t hash_bytes(const void* data, std::size_t bytes) {
  std::uint64_t hash = 14695981039346656037ull;
  for (std::size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211ull;
  }
  return hash;
}

}  // namespace heddle::runtime
