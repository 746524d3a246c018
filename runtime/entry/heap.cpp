// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of libc's malloc and its kin, from the first call of the dynamic loader on.
#include <errno.h>
#include <link.h>
#include <malloc.h>

#include <cstdlib>
#include <cstring>

#include "runtime/entry/entry.h"
#include "runtime/memory/heap.h"

using namespace heddle::runtime;
namespace abi = heddle::abi;

namespace {

Slot arena_of_caller() {
  return Gate::closed() ? kRuntimeArena : thread_slots().of(session().current_index());
}

/// libc frees while it holds locks of its own; switching threads there could block them all.
struct LibcText {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

int find_libc(dl_phdr_info* info, std::size_t, void* out) {
  auto& text = *static_cast<LibcText*>(out);
  const auto inside = reinterpret_cast<std::uint64_t>(&dl_iterate_phdr);
  std::uint64_t begin = ~0ull;
  std::uint64_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const std::uint64_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (at < begin) begin = at;
    if (at + info->dlpi_phdr[i].p_memsz > end) end = at + info->dlpi_phdr[i].p_memsz;
  }
  if (inside < begin || inside >= end) return 0;
  text = {begin, end};
  return 1;
}

bool called_by_libc(void* return_address) {
  static constinit LibcText text;
  if (text.end == 0) dl_iterate_phdr(&find_libc, &text);
  const auto address = reinterpret_cast<std::uint64_t>(return_address);
  return address >= text.begin && address < text.end;
}

/// Where the program runs in parallel (recorded, or natively as the child of a fork), its threads
/// come to an arena at any time. Under control one runs at a time.
class ArenaLock {
 public:
  explicit ArenaLock(Slot arena) : taken_(all_[arena]), held_(!session().one_at_a_time()) {
    while (held_ && __atomic_exchange_n(&taken_, true, __ATOMIC_ACQUIRE)) {
      raw_syscall(SYS_sched_yield);
    }
  }
  ~ArenaLock() {
    if (held_) __atomic_store_n(&taken_, false, __ATOMIC_RELEASE);
  }
  ArenaLock(const ArenaLock&) = delete;
  ArenaLock& operator=(const ArenaLock&) = delete;

 private:
  bool& taken_;
  bool held_;
  static inline constinit bool all_[abi::kMaxThreads] = {};
};

[[gnu::always_inline]] inline void* allocate(std::size_t size, std::size_t alignment) {
  const Slot arena = arena_of_caller();
  const ArenaLock lock(arena);
  void* const memory = heap_allocate(arena, size, alignment, call_site());
  if (memory == nullptr) errno = ENOMEM;
  return memory;
}

/// Where the block was allocated, or freed already, is told by its note.
[[noreturn]] void report_double_free(Session& run, const HeapBlock& block, abi::SiteId site) {
  run.about_to_fail();
  abi::FailureRecord& failure = run.failure();
  failure.site = site;
  failure.related_site = block.note->site;
  failure.related_thread = block.note->count;
  failure.object = block.note->object;
  run.stop(abi::FailureKind::DoubleFree);
}

void give_back(std::uint64_t address) {
  const HeapBlock block = find_heap_block(address);
  const ArenaLock lock(block.start == address ? block.arena : kRuntimeArena);
  if (block.start != address || block.note->live == 0) {
    print_error("heddle: free() of an address that malloc() did not return\n");
    std::abort();
  }
  heap_release(block);
  if (session().one_at_a_time()) session().objects().forget(block.start, block.capacity);
  if (session().audit().active()) [[unlikely]]
    session().audit().forget(address, block.capacity);
}

[[gnu::always_inline]] inline void release(void* memory, bool is_event) {
  if (memory == nullptr) return;
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  const Gate gate;
  if (!gate || !is_event) return give_back(address);
  Session& run = session();
  const Operation operation = operation_on(memory, abi::EventKind::HeapFree, call_site());
  run.arrive(operation);
  const HeapBlock block = find_heap_block(address);
  if (block.start != address || block.note->freed != 0) {
    run.record(operation);
    if (block.start == address) report_double_free(run, block, operation.site);
    return give_back(address);
  }
  if (run.one_at_a_time()) run.objects().note_release(address, run.current_index(), operation.site);
  // Part of its turn: whoever is next to touch this memory finds it given back.
  give_back(address);
  run.record(operation);
}

}  // namespace

HEDDLE_ENTRY void* malloc(std::size_t size) noexcept {
  return allocate(size, 16);
}

HEDDLE_ENTRY void free(void* memory) noexcept {
  release(memory, !called_by_libc(__builtin_return_address(0)));
}

HEDDLE_ENTRY void* calloc(std::size_t count, std::size_t size) noexcept {
  std::size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* const memory = allocate(bytes, 16);
  if (memory != nullptr) std::memset(memory, 0, bytes);
  return memory;
}

HEDDLE_ENTRY void* realloc(void* memory, std::size_t size) noexcept {
  if (memory == nullptr) return allocate(size, 16);
  const bool is_event = !called_by_libc(__builtin_return_address(0));
  if (size == 0) {
    release(memory, is_event);
    return nullptr;
  }
  const HeapBlock block = find_heap_block(reinterpret_cast<std::uint64_t>(memory));
  if (block.start != 0 && heap_resize(block, size)) return memory;
  void* const larger = allocate(size, 16);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, memory, block.capacity < size ? block.capacity : size);
  release(memory, is_event);
  return larger;
}

HEDDLE_ENTRY void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return allocate(size, alignment);
}

HEDDLE_ENTRY void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return allocate(size, alignment);
}

HEDDLE_ENTRY int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* const result = allocate(size, alignment);
  if (result == nullptr) return ENOMEM;
  *memory = result;
  return 0;
}

HEDDLE_ENTRY void* valloc(std::size_t size) noexcept {
  return allocate(size, 4096);
}

HEDDLE_ENTRY void* pvalloc(std::size_t size) noexcept {
  return allocate((size + 4095) & ~std::size_t{4095}, 4096);
}

HEDDLE_ENTRY std::size_t malloc_usable_size(void* memory) noexcept {
  if (memory == nullptr) return 0;
  return find_heap_block(reinterpret_cast<std::uint64_t>(memory)).capacity;
}
