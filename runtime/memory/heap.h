// SPDX-License-Identifier: Apache-2.0
//
// The controlled program's heap. Not faster than libc's, but able to do what a controlled run needs
// and libc's cannot: say for any address which allocation it is in (also a freed one), give the
// same addresses in every run of a schedule, and keep freed memory unused for long enough that a
// use after free is noticed rather than hidden.
//
// One arena a thread (thread_slots.h), carved into 64 KB spans of one size class each; larger
// allocations take whole spans. Freed blocks wait in a quarantine (first in, first out) before they
// are used again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/channel.h"
#include "runtime/base/thread_slots.h"

namespace heddle::runtime {

/// What is known of one allocation. Kept outside the program's reach of ordinary overruns.
struct HeapNote {
  std::uint32_t object;  // index + 1 in the channel's objects; 0: no event has named it yet
  std::uint32_t site;    // where it was allocated; once freed and named: where it was freed
  std::uint32_t count;   // the thread's count-th allocation; once freed and named: by which thread
  std::uint32_t size : 30;  // bytes asked for, saturated
  std::uint32_t live : 1;
  std::uint32_t freed : 1;
};

struct HeapBlock {
  std::uint64_t start = 0;  // 0: no allocation is or was there
  std::uint64_t capacity = 0;
  Slot arena = 0;
  HeapNote* note = nullptr;
};

/// True for addresses in the heap's part of the address space; find() may still know none there.
bool in_heap(std::uint64_t address);
HeapBlock find_heap_block(std::uint64_t address);

/// What the runtime itself makes libc allocate must not shift the program's own addresses.
inline constexpr Slot kRuntimeArena = kThreadSlots;

/// Maps the beginning of an arena, so that its thread need not: an execution that makes mappings of
/// its own takes longer to undo.
void heap_prepare(Slot arena);

/// nullptr when the arena is full. `alignment`: a power of two.
void* heap_allocate(Slot arena, std::size_t size, std::size_t alignment, abi::SiteId site);
/// `block` must be live.
void heap_release(const HeapBlock& block);
/// Grows or shrinks in place if the block's capacity allows.
bool heap_resize(const HeapBlock& block, std::size_t size);

}  // namespace heddle::runtime
