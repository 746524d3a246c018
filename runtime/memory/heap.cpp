// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/heap.h"

#include <sys/mman.h>

#include <bit>

#include "runtime/base/address_space.h"
#include "runtime/base/system.h"
#include "runtime/reset/keeper.h"

namespace heddle::runtime {
namespace {

constexpr std::uint64_t kSpan = 64 << 10;
constexpr std::uint32_t kSpans = kHeapArena / kSpan;
constexpr std::uint32_t kSmallClasses = 64;                // 16, 32 ... 1024
constexpr std::uint32_t kClasses = kSmallClasses + 4 * 5;  // then four steps a doubling, to 32 KB
constexpr std::uint64_t kLargestClass = 32 << 10;
constexpr std::uint64_t kQuarantineBytes = 2 << 20;  // of each class

constexpr std::uint64_t class_bytes(std::uint32_t size_class) {
  if (size_class < kSmallClasses) return (size_class + 1) * 16;
  const std::uint32_t step = size_class - kSmallClasses;
  return (1024ull << (step / 4)) * (5 + step % 4) / 4;
}
static_assert(class_bytes(kClasses - 1) == kLargestClass);

constexpr std::uint32_t class_of(std::uint64_t bytes) {
  if (bytes <= 1024) return static_cast<std::uint32_t>(bytes == 0 ? 0 : (bytes - 1) / 16);
  std::uint32_t size_class = kSmallClasses;
  while (class_bytes(size_class) < bytes) ++size_class;
  return size_class;
}

/// One entry a span: the size of the blocks in it, or how far back a large block starts.
struct Span {
  std::uint32_t block_bytes = 0;  // 0: unused; kLarge: part of a large block
  std::uint32_t first = 0;        // large: index of the block's first span
  std::uint32_t spans = 0;        // large, in the first span only: how many
};
constexpr std::uint32_t kLarge = 0xffffffff;

struct FreeBlock {
  FreeBlock* next;
};

/// Lives at the beginning of the arena's notes: the spans whose notes would be there are not used.
struct Arena {
  std::uint32_t next_span;
  std::uint32_t allocations;
  std::uint64_t bump[kClasses];  // next never-used block of the class's current span
  std::uint64_t bump_end[kClasses];
  FreeBlock* free_list[kClasses];
  FreeBlock* free_tail[kClasses];
  std::uint64_t free_bytes[kClasses];
  Span spans[kSpans];
};
constexpr std::uint32_t kFirstSpan = (sizeof(Arena) + kSpan - 1) / kSpan;
/// What is mapped of an arena at first: whoever looks for written pages has to look at all of it,
/// and an execution that needs more takes longer to undo.
constexpr std::uint32_t kFirstSpans = kFirstSpan + (8 << 20) / kSpan;

std::uint32_t mapped_spans[abi::kMaxThreads];  // of each arena; 0: nothing is mapped yet

void map_spans(Slot slot, std::uint32_t wanted) {
  std::uint32_t& mapped = mapped_spans[slot];
  std::uint32_t end = mapped == 0 ? kFirstSpans : mapped * 2;
  if (end < wanted) end = wanted;
  if (end > kSpans) end = kSpans;
  const std::uint64_t offset = slot * kHeapArena;
  const std::uint64_t first = mapped == 0 ? kFirstSpan : mapped;
  map_memory((end - first) * kSpan, reinterpret_cast<void*>(kHeapBase + offset + first * kSpan));
  map_memory((end - mapped) * kSpan, reinterpret_cast<void*>(kHeapNotes + offset + mapped * kSpan));
  mapped = end;
}

Arena& arena_of(Slot slot) {
  if (mapped_spans[slot] == 0) map_spans(slot, kFirstSpans);
  return *reinterpret_cast<Arena*>(kHeapNotes + slot * kHeapArena);
}

Span* spans_of(Slot slot) {
  return arena_of(slot).spans;
}

HeapNote* note_at(std::uint64_t start) {
  return reinterpret_cast<HeapNote*>(start - kHeapBase + kHeapNotes);
}

std::uint64_t take_spans(Arena& arena, Slot slot, std::uint32_t count) {
  if (arena.next_span == 0) arena.next_span = kFirstSpan;
  if (count > kSpans - arena.next_span) return 0;
  const std::uint32_t first = arena.next_span;
  arena.next_span += count;
  if (arena.next_span > mapped_spans[slot]) map_spans(slot, arena.next_span);
  return kHeapBase + slot * kHeapArena + first * kSpan;
}

std::uint64_t allocate_small(Slot slot, std::uint32_t size_class) {
  Arena& arena = arena_of(slot);
  if (arena.free_bytes[size_class] > kQuarantineBytes) {
    FreeBlock* const block = arena.free_list[size_class];
    arena.free_list[size_class] = block->next;
    arena.free_bytes[size_class] -= class_bytes(size_class);
    return reinterpret_cast<std::uint64_t>(block);
  }
  const std::uint64_t bytes = class_bytes(size_class);
  if (arena.bump[size_class] + bytes > arena.bump_end[size_class]) {
    const std::uint64_t span = take_spans(arena, slot, 1);
    if (span == 0) return 0;
    spans_of(slot)[(span - kHeapBase) % kHeapArena / kSpan].block_bytes =
        static_cast<std::uint32_t>(bytes);
    arena.bump[size_class] = span;
    arena.bump_end[size_class] = span + kSpan;
  }
  const std::uint64_t start = arena.bump[size_class];
  arena.bump[size_class] += bytes;
  return start;
}

/// Whole spans, never used again after their release: their pages go back to the kernel instead.
std::uint64_t allocate_large(Slot slot, std::uint64_t bytes, std::uint64_t alignment) {
  Arena& arena = arena_of(slot);
  const std::uint64_t slack = alignment > kSpan ? alignment : 0;
  const std::uint64_t wanted = (bytes + slack + kSpan - 1) / kSpan;
  if (bytes > kHeapArena || wanted > kSpans) return 0;
  std::uint64_t start = take_spans(arena, slot, static_cast<std::uint32_t>(wanted));
  if (start == 0) return 0;
  const auto end = static_cast<std::uint32_t>((start - kHeapBase) % kHeapArena / kSpan + wanted);
  if (slack != 0) start = (start + alignment - 1) & ~(alignment - 1);
  const auto first = static_cast<std::uint32_t>((start - kHeapBase) % kHeapArena / kSpan);
  Span* const spans = spans_of(slot);
  for (std::uint32_t i = first; i < end; ++i) spans[i] = {kLarge, first, 0};
  spans[first].spans = end - first;
  return start;
}

}  // namespace

bool in_heap(std::uint64_t address) {
  return address - kHeapBase < std::uint64_t{abi::kMaxThreads} * kHeapArena;
}

HeapBlock find_heap_block(std::uint64_t address) {
  HeapBlock block;
  block.arena = static_cast<Slot>((address - kHeapBase) / kHeapArena);
  if (!in_heap(address)) return block;
  const std::uint64_t arena = kHeapBase + block.arena * kHeapArena;
  const auto index = static_cast<std::uint32_t>((address - arena) / kSpan);
  if (index >= mapped_spans[block.arena]) return block;
  const Span& span = spans_of(block.arena)[index];
  if (span.block_bytes == 0) return block;
  if (span.block_bytes == kLarge) {
    block.start = arena + span.first * kSpan;
    block.capacity = spans_of(block.arena)[span.first].spans * kSpan;
  } else {
    const std::uint64_t start = arena + index * kSpan;
    block.start = start + (address - start) / span.block_bytes * span.block_bytes;
    block.capacity = span.block_bytes;
    if (block.start + block.capacity > start + kSpan) return {};
  }
  block.note = note_at(block.start);
  if (block.note->live == 0 && block.note->freed == 0) return {};
  return block;
}

void heap_prepare(Slot slot) {
  arena_of(slot);
}

void* heap_allocate(Slot slot, std::size_t size, std::size_t alignment, abi::SiteId site) {
  std::uint64_t bytes = size == 0 ? 1 : size;
  // A block of a power-of-two class starts at a multiple of its size, for spans do.
  if (alignment > 16) bytes = std::bit_ceil(bytes < alignment ? alignment : bytes);
  const std::uint64_t start = bytes <= kLargestClass ? allocate_small(slot, class_of(bytes))
                                                     : allocate_large(slot, bytes, alignment);
  if (start == 0) return nullptr;
  const std::uint32_t shown = size < (1u << 30) ? static_cast<std::uint32_t>(size) : (1u << 30) - 1;
  *note_at(start) = {0, site, ++arena_of(slot).allocations, shown, 1, 0};
  return reinterpret_cast<void*>(start);
}

void heap_release(const HeapBlock& block) {
  block.note->live = 0;
  block.note->freed = 1;
  Arena& arena = arena_of(block.arena);
  if (block.capacity > kLargestClass) {
    note_dropped_pages(block.start, block.capacity);
    raw_syscall(SYS_madvise, static_cast<long>(block.start), static_cast<long>(block.capacity),
                MADV_DONTNEED);
    return;
  }
  const std::uint32_t size_class = class_of(block.capacity);
  auto* const freed = reinterpret_cast<FreeBlock*>(block.start);
  freed->next = nullptr;
  if (arena.free_bytes[size_class] == 0) {
    arena.free_list[size_class] = freed;
  } else {
    arena.free_tail[size_class]->next = freed;
  }
  arena.free_tail[size_class] = freed;
  arena.free_bytes[size_class] += block.capacity;
}

bool heap_resize(const HeapBlock& block, std::size_t size) {
  if (size > block.capacity || size * 4 < block.capacity) return false;
  block.note->size = size < (1u << 30) ? static_cast<std::uint32_t>(size) : (1u << 30) - 1;
  return true;
}

}  // namespace heddle::runtime
