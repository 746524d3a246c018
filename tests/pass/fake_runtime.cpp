// SPDX-License-Identifier: Apache-2.0
//
// A runtime that only does what the hooks promise, with the real one's soname: instrumented
// programs must behave under it as they do natively. With HEDDLE_FAKE_COUNTS set it tells, at the
// end, how often each hook was called; with HEDDLE_FAKE_CLOSED set all shutters are closed, or
// those of sites with odd numbers (HEDDLE_FAKE_CLOSED=odd), which must then not be seen; with
// HEDDLE_FAKE_DEAF set hooks of plain accesses do not come here. Built with HEDDLE_EMPTY_HOOKS it
// counts nothing and is deaf, so that benchmarks see what the calls cost.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "abi/abi.h"

namespace {

using Ptr = void*;
using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using heddle::abi::RmwOperation;

/// One thread's: threads that count in one place would wait for each other, and benchmarks would
/// measure that.
struct alignas(128) Counts {
#define HEDDLE_HOOK(symbol, ...) std::uint64_t symbol;
#include "abi/hooks.def"
};
constexpr unsigned kThreads = 64;
Counts all_counts[kThreads];
unsigned threads_counting = 0;
[[gnu::tls_model("initial-exec")]] thread_local Counts* own_counts = nullptr;

[[gnu::noinline]] Counts& begin_counting() {
  // From the 65th thread on they share: counts may be too small then.
  const unsigned thread = __atomic_fetch_add(&threads_counting, 1, __ATOMIC_RELAXED);
  own_counts = &all_counts[thread % kThreads];
  return *own_counts;
}

inline Counts& counts() {
  Counts* const own = own_counts;
  return own != nullptr ? *own : begin_counting();
}

struct Reporter {
  ~Reporter() {
    if (std::getenv("HEDDLE_FAKE_COUNTS") == nullptr) return;
    Counts total = {};
    for (const Counts& some : all_counts) {
#define HEDDLE_HOOK(symbol, ...) total.symbol += some.symbol;
#include "abi/hooks.def"
    }
#define HEDDLE_HOOK(symbol, ...) \
  if (total.symbol != 0) std::fprintf(stderr, #symbol " %lu\n", total.symbol);
#include "abi/hooks.def"
  }
} reporter;

template <typename Unsigned, typename Signed>
Unsigned apply(RmwOperation operation, Unsigned old_value, Unsigned operand) {
  const auto a = static_cast<Signed>(old_value);
  const auto b = static_cast<Signed>(operand);
  switch (operation) {
    case RmwOperation::Exchange: return operand;
    case RmwOperation::Add: return static_cast<Unsigned>(old_value + operand);
    case RmwOperation::Sub: return static_cast<Unsigned>(old_value - operand);
    case RmwOperation::And: return old_value & operand;
    case RmwOperation::Nand: return static_cast<Unsigned>(~(old_value & operand));
    case RmwOperation::Or: return old_value | operand;
    case RmwOperation::Xor: return old_value ^ operand;
    case RmwOperation::Max: return a > b ? old_value : operand;
    case RmwOperation::Min: return a < b ? old_value : operand;
    case RmwOperation::UnsignedMax: return old_value > operand ? old_value : operand;
    case RmwOperation::UnsignedMin: return old_value < operand ? old_value : operand;
  }
  std::abort();
}

template <typename Unsigned, typename Signed>
Unsigned update(Ptr pointer, Unsigned operand, U32 operation) {
  auto* place = static_cast<Unsigned*>(pointer);
  Unsigned old_value = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(
      place, &old_value,
      apply<Unsigned, Signed>(static_cast<RmwOperation>(operation), old_value, operand), false,
      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old_value;
}

// A hook that gets a site the pass never gave was called with mixed-up arguments.
[[maybe_unused]] void check_site(U32 site) {
  if (site < heddle::abi::kFirstSite || site > 1000000) {
    std::fprintf(stderr, "fake runtime: impossible site %u\n", site);
    std::abort();
  }
}

bool odd_are_closed = false;
[[maybe_unused]] void check_plain_site(U32 site) {
  check_site(site);
  if (odd_are_closed && site % 2 == 1) {
    std::fprintf(stderr, "fake runtime: site %u is closed\n", site);
    std::abort();
  }
}

void close_shutters(U8* bytes, U64 count, U32 first) {
  const char* which = std::getenv("HEDDLE_FAKE_CLOSED");
  if (which == nullptr) return;
  odd_are_closed = std::strcmp(which, "odd") == 0;
  for (U64 i = 0; i < count; ++i) bytes[i] = !odd_are_closed || (first + i) % 2 == 1;
}

}  // namespace

#ifdef HEDDLE_EMPTY_HOOKS
#define SEEN(hook, site) static_cast<void>(site)
#define PLAIN_SEEN(hook, site) static_cast<void>(site)
constexpr bool kIsEmpty = true;
#else
#define SEEN(hook, site) (check_site(site), static_cast<void>(++counts().hook))
#define PLAIN_SEEN(hook, site) (check_plain_site(site), static_cast<void>(++counts().hook))
constexpr bool kIsEmpty = false;
#endif

extern "C" {

#pragma clang diagnostic ignored "-Wmissing-prototypes"

extern char HEDDLE_ABI_SYMBOL;
char HEDDLE_ABI_SYMBOL = 1;
extern U32 HEDDLE_CALL_SITE_SYMBOL;
U32 HEDDLE_CALL_SITE_SYMBOL = 0;

#define KEEPS __attribute__((preserve_most))
#define SIZED(n, U, S)                                                                           \
  KEEPS U __heddle_load##n(Ptr p, U32 site) {                                                    \
    PLAIN_SEEN(__heddle_load##n, site);                                                          \
    U value;                                                                                     \
    __builtin_memcpy(&value, p, n);                                                              \
    return value;                                                                                \
  }                                                                                              \
  KEEPS void __heddle_store##n(Ptr p, U value, U32 site) {                                       \
    PLAIN_SEEN(__heddle_store##n, site);                                                         \
    __builtin_memcpy(p, &value, n);                                                              \
  }                                                                                              \
  U __heddle_atomic_load##n(Ptr p, U32, U32 site) {                                              \
    SEEN(__heddle_atomic_load##n, site);                                                         \
    return __atomic_load_n(static_cast<U*>(p), __ATOMIC_SEQ_CST);                                \
  }                                                                                              \
  void __heddle_atomic_store##n(Ptr p, U value, U32, U32 site) {                                 \
    SEEN(__heddle_atomic_store##n, site);                                                        \
    __atomic_store_n(static_cast<U*>(p), value, __ATOMIC_SEQ_CST);                               \
  }                                                                                              \
  U __heddle_atomic_rmw##n(Ptr p, U operand, U32 operation, U32, U32 site) {                     \
    SEEN(__heddle_atomic_rmw##n, site);                                                          \
    return update<U, S>(p, operand, operation);                                                  \
  }                                                                                              \
  U __heddle_atomic_cas##n(Ptr p, U expected, U desired, U32, U32, U32 site) {                   \
    SEEN(__heddle_atomic_cas##n, site);                                                          \
    __atomic_compare_exchange_n(static_cast<U*>(p), &expected, desired, false, __ATOMIC_SEQ_CST, \
                                __ATOMIC_SEQ_CST);                                               \
    return expected;                                                                             \
  }
SIZED(1, U8, std::int8_t)
SIZED(2, U16, std::int16_t)
SIZED(4, U32, std::int32_t)
SIZED(8, U64, std::int64_t)
#undef SIZED

void __heddle_fence(U32, U32 site) {
  SEEN(__heddle_fence, site);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
KEEPS void __heddle_range_read(Ptr, U64, U32 site) {
  SEEN(__heddle_range_read, site);
}
KEEPS void __heddle_range_write(Ptr, U64, U32 site) {
  SEEN(__heddle_range_write, site);
}
void __heddle_leave(Ptr, U32 site) {
  SEEN(__heddle_leave, site);
}
void __heddle_shutters(Ptr bytes, U64 count, U32 first) {
  SEEN(__heddle_shutters, first);
  close_shutters(static_cast<U8*>(bytes), count, first);
  if (kIsEmpty || std::getenv("HEDDLE_FAKE_DEAF") != nullptr) static_cast<U8*>(bytes)[count] = 1;
}
#define STEP(name, ...)    \
  void name(__VA_ARGS__) { \
    SEEN(name, site);      \
  }
STEP(__heddle_loop_iteration, U32, U32 site)
STEP(__heddle_loop_exit, U32, U32 site)
STEP(__heddle_call_enter, Ptr, U32 site)
STEP(__heddle_landed, Ptr, U32 site)
STEP(__heddle_call_exit, U32 site)
STEP(__heddle_block, U32 site)
STEP(__heddle_branch, U64, U32 site)
STEP(__heddle_repeat_end, U32, U32 site)
STEP(__heddle_audit_read, Ptr, U64, U32, U32 site)
STEP(__heddle_audit_write, Ptr, U64, U32, U32 site)
STEP(__heddle_audit_forget, Ptr, U64, U32 site)
#undef STEP

U32 __heddle_repeat_begin(U32, U32) {
  ++counts().__heddle_repeat_begin;
  return 1;
}
U32 __heddle_repeat_goes_on(U32, U32) {
  ++counts().__heddle_repeat_goes_on;
  return 0;
}
void __heddle_audit_begin(U32) {
  ++counts().__heddle_audit_begin;
}
}
