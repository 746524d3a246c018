// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "runtime/base/address_space.h"

namespace heddle::runtime {

/// The heap tells whoever takes snapshots of memory; here nobody does.
void note_dropped_pages(std::uint64_t, std::uint64_t) {}

namespace {

// Arenas are for the life of the process: each test takes one of its own.
abi::ThreadIndex fresh_arena() {
  static abi::ThreadIndex next = 0;
  return next++;
}

std::uint64_t address(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

TEST(Heap, InteriorPointersFindTheirBlock) {
  const abi::ThreadIndex arena = fresh_arena();
  for (const std::size_t size : {1, 15, 16, 17, 100, 1024, 1025, 5000, 32768, 32769, 1 << 20}) {
    auto* const memory = static_cast<char*>(heap_allocate(arena, size, 16, 7));
    ASSERT_NE(memory, nullptr);
    std::memset(memory, 0xAB, size);
    for (const std::size_t offset : {std::size_t{0}, size / 2, size - 1}) {
      const HeapBlock block = find_heap_block(address(memory) + offset);
      EXPECT_EQ(block.start, address(memory)) << size << "+" << offset;
      EXPECT_EQ(block.arena, arena);
      EXPECT_EQ(block.note->size, size);
      EXPECT_EQ(block.note->site, 7u);
      EXPECT_EQ(block.note->live, 1u);
    }
  }
}

TEST(Heap, AddressesNeverAllocatedAreNoBlock) {
  const abi::ThreadIndex arena = fresh_arena();
  EXPECT_EQ(find_heap_block(kHeapBase + arena * kHeapArena + 4096).start, 0u);
  const void* const only = heap_allocate(arena, 64, 16, 0);
  EXPECT_EQ(find_heap_block(address(only) + 64).start, 0u);
  EXPECT_FALSE(in_heap(0));
  EXPECT_FALSE(in_heap(kHeapBase - 1));
  EXPECT_TRUE(in_heap(kHeapBase));
}

TEST(Heap, FreedBlocksAreRememberedAndNotReusedSoon) {
  const abi::ThreadIndex arena = fresh_arena();
  void* const first = heap_allocate(arena, 48, 16, 1);
  heap_release(find_heap_block(address(first)));
  const HeapBlock freed = find_heap_block(address(first) + 8);
  EXPECT_EQ(freed.start, address(first));
  EXPECT_EQ(freed.note->freed, 1u);
  EXPECT_EQ(freed.note->live, 0u);
  for (int i = 0; i < 1000; ++i) EXPECT_NE(heap_allocate(arena, 48, 16, 1), first);
}

TEST(Heap, FreedBlocksAreReusedInTheEnd) {
  const abi::ThreadIndex arena = fresh_arena();
  std::set<void*> seen;
  bool reused = false;
  for (int i = 0; i < 200'000 && !reused; ++i) {
    void* const memory = heap_allocate(arena, 1024, 16, 1);
    reused = !seen.insert(memory).second;
    heap_release(find_heap_block(address(memory)));
  }
  EXPECT_TRUE(reused);
}

TEST(Heap, AlignmentIsKept) {
  const abi::ThreadIndex arena = fresh_arena();
  for (std::size_t alignment = 16; alignment <= (1 << 20); alignment *= 2) {
    for (const std::size_t size : {1, 24, 700, 40'000}) {
      const void* const memory = heap_allocate(arena, size, alignment, 0);
      EXPECT_EQ(address(memory) % alignment, 0u) << alignment << " " << size;
      EXPECT_EQ(find_heap_block(address(memory) + size - 1).start, address(memory));
    }
  }
}

TEST(Heap, LiveBlocksNeverOverlap) {
  const abi::ThreadIndex arena = fresh_arena();
  std::mt19937 random(20);
  struct Block {
    unsigned char* memory;
    std::size_t size;
    unsigned char mark;
  };
  std::vector<Block> live;
  for (int step = 0; step < 20'000; ++step) {
    if (live.size() > 200 || (!live.empty() && random() % 3 == 0)) {
      const std::size_t i = random() % live.size();
      for (std::size_t k = 0; k < live[i].size; ++k) ASSERT_EQ(live[i].memory[k], live[i].mark);
      heap_release(find_heap_block(address(live[i].memory)));
      live[i] = live.back();
      live.pop_back();
      continue;
    }
    const std::size_t size = 1 + random() % (random() % 50 == 0 ? 100'000 : 600);
    auto* const memory = static_cast<unsigned char*>(heap_allocate(arena, size, 16, 0));
    const auto mark = static_cast<unsigned char>(random());
    std::memset(memory, mark, size);
    live.push_back({memory, size, mark});
  }
}

TEST(Heap, ResizeInPlaceWithinTheBlock) {
  const abi::ThreadIndex arena = fresh_arena();
  const void* const memory = heap_allocate(arena, 100, 16, 0);
  const HeapBlock block = find_heap_block(address(memory));
  EXPECT_TRUE(heap_resize(block, 112));
  EXPECT_EQ(block.note->size, 112u);
  EXPECT_FALSE(heap_resize(block, 113));
  EXPECT_FALSE(heap_resize(block, 20));
}

TEST(Heap, ImpossibleSizesAreRefused) {
  const abi::ThreadIndex arena = fresh_arena();
  EXPECT_EQ(heap_allocate(arena, ~std::size_t{0}, 16, 0), nullptr);
  EXPECT_EQ(heap_allocate(arena, kHeapArena, 16, 0), nullptr);
  EXPECT_NE(heap_allocate(arena, 1, 16, 0), nullptr);
}

}  // namespace
}  // namespace heddle::runtime
