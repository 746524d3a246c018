// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/store_buffer_model.h"

#include "runtime/memory/raw_memory.h"
#include "runtime/memory/stack_owner.h"

namespace heddle::runtime {
namespace {

/// By thread index. A run has one model, so both use these.
constinit StoreBuffer buffers[abi::kMaxThreads];

/// An access that faults has to fault where the program does it, not where it is flushed: writes
/// what is there. Nobody else runs meanwhile.
void probe(std::uint64_t address, unsigned bytes) {
  write_memory(address, bytes, read_memory(address, bytes));
}

/// Whose stores must be visible before `thread` touches that address: a stack's owner's.
abi::ThreadIndex blocking_owner(abi::ThreadIndex thread, std::uint64_t address) {
  const abi::ThreadIndex owner = stack_owner(address);
  const bool blocks = owner != abi::kNoThread && owner != thread && buffers[owner].size() != 0;
  return blocks ? owner : abi::kNoThread;
}

}  // namespace

void StoreBufferModel::begin_run() {
  for (StoreBuffer& buffer : buffers) {
    if (buffer.size() != 0) buffer.clear();
  }
}

abi::ThreadIndex StoreBufferModel::blocks_access(abi::ThreadIndex thread, std::uint64_t address,
                                                 std::uint64_t bytes) const {
  const StoreBuffer& own = buffers[thread];
  std::uint64_t value;
  if (own.size() != 0 &&
      (own.full() || own.find(address, bytes, value) == StoreBuffer::Forwarding::Partial)) {
    return thread;
  }
  return blocking_owner(thread, address);
}

std::uint64_t StoreBufferModel::load(abi::ThreadIndex thread, std::uint64_t address,
                                     unsigned bytes) const {
  std::uint64_t value;
  if (buffers[thread].find(address, bytes, value) == StoreBuffer::Forwarding::Whole) return value;
  return read_memory(address, bytes);
}

void StoreBufferModel::store(abi::ThreadIndex thread, const PendingStore& store) {
  if (stack_owner(store.address) == thread) {
    write_memory(store.address, store.bytes, store.value);
    return;
  }
  probe(store.address, store.bytes);
  buffers[thread].push(store);
}

void StoreBufferModel::order_stores(abi::ThreadIndex thread) {
  buffers[thread].order();
}

std::uint32_t StoreBufferModel::pending(abi::ThreadIndex thread) const {
  return buffers[thread].size();
}

std::uint32_t StoreBufferModel::flush_choices(abi::ThreadIndex thread) const {
  return buffers[thread].choices(order_);
}

PendingStore StoreBufferModel::flush_choice(abi::ThreadIndex thread, std::uint32_t choice) const {
  return buffers[thread].choice(order_, choice);
}

PendingStore StoreBufferModel::pending_store(abi::ThreadIndex thread, std::uint32_t n) const {
  return buffers[thread].at(n);
}

abi::ThreadIndex StoreBufferModel::blocks_flush(abi::ThreadIndex thread,
                                                std::uint32_t choice) const {
  return blocking_owner(thread, buffers[thread].choice(order_, choice).address);
}

PendingStore StoreBufferModel::flush(abi::ThreadIndex thread, std::uint32_t choice) {
  const PendingStore store = buffers[thread].take(order_, choice);
  write_memory(store.address, store.bytes, store.value);
  return store;
}

}  // namespace heddle::runtime
