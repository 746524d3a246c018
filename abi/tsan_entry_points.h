// SPDX-License-Identifier: Apache-2.0
//
// Every function that objects built with -fsanitize=thread (clang's and GCC's) call, once. Whoever
// includes this defines before it, in namespace tsan, what they come down to:
//
//   void announce_read(const void* address, std::size_t bytes, const void* caller);
//   void announce_write(void* address, std::size_t bytes, const void* caller);
//   T load<T>(T* address, MemoryOrder order, const void* caller);
//   void store<T>(T* address, T value, MemoryOrder order, const void* caller);
//   T update<T>(T* address, RmwOperation operation, T operand, const void* caller);
//   T compare_exchange<T>(T* address, T expected, T desired, const void* caller);  (what it found)
//   void fence(MemoryOrder order, const void* caller);
//   void start();
//
// Plain accesses are announced and then done by the program itself; atomic ones are done here. The
// calls are documented nowhere but in the sources of the two compilers' runtimes; those that only
// help ThreadSanitizer find races do nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "abi/abi.h"

#define HEDDLE_TSAN extern "C" __attribute__((visibility("default")))
#define HEDDLE_CALLER __builtin_return_address(0)

namespace tsan {
__extension__ typedef unsigned __int128 U128;

/// Above the C ABI's orders GCC adds hints about lock elision.
constexpr heddle::abi::MemoryOrder order_of(int order) {
  return static_cast<heddle::abi::MemoryOrder>(order & 0xff);
}
}  // namespace tsan

HEDDLE_TSAN void __tsan_init() {
  tsan::start();
}
HEDDLE_TSAN void __tsan_func_entry(void*) {}
HEDDLE_TSAN void __tsan_func_exit() {}
HEDDLE_TSAN void __tsan_ignore_thread_begin() {}
HEDDLE_TSAN void __tsan_ignore_thread_end() {}

#define HEDDLE_TSAN_ACCESSES(prefix, bytes)                 \
  HEDDLE_TSAN void __tsan_##prefix##read##bytes(void* p) {  \
    tsan::announce_read(p, bytes, HEDDLE_CALLER);           \
  }                                                         \
  HEDDLE_TSAN void __tsan_##prefix##write##bytes(void* p) { \
    tsan::announce_write(p, bytes, HEDDLE_CALLER);          \
  }
// The compiler has found a write behind the read: both are announced here.
#define HEDDLE_TSAN_PAIRS(prefix, bytes)                         \
  HEDDLE_TSAN void __tsan_##prefix##read_write##bytes(void* p) { \
    tsan::announce_read(p, bytes, HEDDLE_CALLER);                \
    tsan::announce_write(p, bytes, HEDDLE_CALLER);               \
  }
#define HEDDLE_TSAN_WIDE(bytes)                    \
  HEDDLE_TSAN_ACCESSES(unaligned_, bytes)          \
  HEDDLE_TSAN_ACCESSES(unaligned_volatile_, bytes) \
  HEDDLE_TSAN_PAIRS(unaligned_, bytes)
#define HEDDLE_TSAN_SIZE(bytes)          \
  HEDDLE_TSAN_ACCESSES(, bytes)          \
  HEDDLE_TSAN_ACCESSES(volatile_, bytes) \
  HEDDLE_TSAN_PAIRS(, bytes)

HEDDLE_TSAN_SIZE(1)
HEDDLE_TSAN_SIZE(2)
HEDDLE_TSAN_SIZE(4)
HEDDLE_TSAN_SIZE(8)
HEDDLE_TSAN_SIZE(16)
HEDDLE_TSAN_WIDE(2)
HEDDLE_TSAN_WIDE(4)
HEDDLE_TSAN_WIDE(8)
HEDDLE_TSAN_WIDE(16)

HEDDLE_TSAN void __tsan_vptr_read(void** p) {
  tsan::announce_read(p, sizeof *p, HEDDLE_CALLER);
}
HEDDLE_TSAN void __tsan_vptr_update(void** p, void*) {
  tsan::announce_write(p, sizeof *p, HEDDLE_CALLER);
}
HEDDLE_TSAN void __tsan_read_range(void* p, unsigned long bytes) {
  tsan::announce_read(p, bytes, HEDDLE_CALLER);
}
HEDDLE_TSAN void __tsan_write_range(void* p, unsigned long bytes) {
  tsan::announce_write(p, bytes, HEDDLE_CALLER);
}

HEDDLE_TSAN void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  tsan::announce_read(from, bytes, HEDDLE_CALLER);
  tsan::announce_write(to, bytes, HEDDLE_CALLER);
  return std::memcpy(to, from, bytes);
}
HEDDLE_TSAN void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  tsan::announce_read(from, bytes, HEDDLE_CALLER);
  tsan::announce_write(to, bytes, HEDDLE_CALLER);
  return std::memmove(to, from, bytes);
}
HEDDLE_TSAN void* __tsan_memset(void* to, int value, std::size_t bytes) {
  tsan::announce_write(to, bytes, HEDDLE_CALLER);
  return std::memset(to, value, bytes);
}

#define HEDDLE_TSAN_UPDATE(bits, T, name, Operation)                                         \
  HEDDLE_TSAN T __tsan_atomic##bits##_##name(T* p, T operand, int) {                         \
    return tsan::update<T>(p, heddle::abi::RmwOperation::Operation, operand, HEDDLE_CALLER); \
  }
#define HEDDLE_TSAN_EXCHANGE(bits, T, strength)                                                   \
  HEDDLE_TSAN int __tsan_atomic##bits##_compare_exchange_##strength(T* p, T* expected, T desired, \
                                                                    int, int) {                   \
    const T wanted = *expected;                                                                   \
    *expected = tsan::compare_exchange<T>(p, wanted, desired, HEDDLE_CALLER);                     \
    return *expected == wanted;                                                                   \
  }
#define HEDDLE_TSAN_ATOMICS(bits, T)                                                         \
  HEDDLE_TSAN T __tsan_atomic##bits##_load(T* p, int order) {                                \
    return tsan::load<T>(p, tsan::order_of(order), HEDDLE_CALLER);                           \
  }                                                                                          \
  HEDDLE_TSAN void __tsan_atomic##bits##_store(T* p, T value, int order) {                   \
    tsan::store<T>(p, value, tsan::order_of(order), HEDDLE_CALLER);                          \
  }                                                                                          \
  HEDDLE_TSAN T __tsan_atomic##bits##_compare_exchange_val(T* p, T expected, T desired, int, \
                                                           int) {                            \
    return tsan::compare_exchange<T>(p, expected, desired, HEDDLE_CALLER);                   \
  }                                                                                          \
  HEDDLE_TSAN_EXCHANGE(bits, T, strong)                                                      \
  HEDDLE_TSAN_EXCHANGE(bits, T, weak)                                                        \
  HEDDLE_TSAN_UPDATE(bits, T, exchange, Exchange)                                            \
  HEDDLE_TSAN_UPDATE(bits, T, fetch_add, Add)                                                \
  HEDDLE_TSAN_UPDATE(bits, T, fetch_sub, Sub)                                                \
  HEDDLE_TSAN_UPDATE(bits, T, fetch_and, And)                                                \
  HEDDLE_TSAN_UPDATE(bits, T, fetch_nand, Nand)                                              \
  HEDDLE_TSAN_UPDATE(bits, T, fetch_or, Or)                                                  \
  HEDDLE_TSAN_UPDATE(bits, T, fetch_xor, Xor)

HEDDLE_TSAN_ATOMICS(8, std::uint8_t)
HEDDLE_TSAN_ATOMICS(16, std::uint16_t)
HEDDLE_TSAN_ATOMICS(32, std::uint32_t)
HEDDLE_TSAN_ATOMICS(64, std::uint64_t)
HEDDLE_TSAN_ATOMICS(128, tsan::U128)

HEDDLE_TSAN void __tsan_atomic_thread_fence(int order) {
  tsan::fence(tsan::order_of(order), HEDDLE_CALLER);
}
HEDDLE_TSAN void __tsan_atomic_signal_fence(int) {}

// <sanitizer/tsan_interface.h>: what a program may tell ThreadSanitizer about its own primitives,
// which Heddle sees working.
HEDDLE_TSAN void __tsan_acquire(void*) {}
HEDDLE_TSAN void __tsan_release(void*) {}
HEDDLE_TSAN void __tsan_mutex_create(void*, unsigned) {}
HEDDLE_TSAN void __tsan_mutex_destroy(void*, unsigned) {}
HEDDLE_TSAN void __tsan_mutex_pre_lock(void*, unsigned) {}
HEDDLE_TSAN void __tsan_mutex_post_lock(void*, unsigned, int) {}
HEDDLE_TSAN int __tsan_mutex_pre_unlock(void*, unsigned) {
  return 0;
}
HEDDLE_TSAN void __tsan_mutex_post_unlock(void*, unsigned) {}
HEDDLE_TSAN void __tsan_mutex_pre_signal(void*, unsigned) {}
HEDDLE_TSAN void __tsan_mutex_post_signal(void*, unsigned) {}
HEDDLE_TSAN void __tsan_mutex_pre_divert(void*, unsigned) {}
HEDDLE_TSAN void __tsan_mutex_post_divert(void*, unsigned) {}

#undef HEDDLE_TSAN_SIZE
#undef HEDDLE_TSAN_WIDE
#undef HEDDLE_TSAN_PAIRS
#undef HEDDLE_TSAN_ACCESSES
#undef HEDDLE_TSAN_ATOMICS
#undef HEDDLE_TSAN_EXCHANGE
#undef HEDDLE_TSAN_UPDATE
#undef HEDDLE_CALLER
#undef HEDDLE_TSAN
