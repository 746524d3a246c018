// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/store_buffer.h"

#include <cstring>

namespace heddle::runtime {
namespace {

bool overlap(const PendingStore& store, std::uint64_t address, std::uint64_t bytes) {
  return store.address < address + bytes && address < store.address + store.bytes;
}

}  // namespace

void StoreBuffer::push(const PendingStore& store) {
  entries_[size_++] = {store, epoch_};
}

bool StoreBuffer::may_leave(FlushOrder order, std::uint32_t position) const {
  if (position == 0) return true;
  if (order == FlushOrder::AsStored) return false;
  const Entry& entry = entries_[position];
  if (entry.store.release || entry.epoch != entries_[0].epoch) return false;
  for (std::uint32_t i = 0; i < position; ++i) {
    if (overlap(entries_[i].store, entry.store.address, entry.store.bytes)) return false;
  }
  return true;
}

std::uint32_t StoreBuffer::choices(FlushOrder order) const {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < size_; ++i) count += may_leave(order, i) ? 1 : 0;
  return count;
}

std::uint32_t StoreBuffer::position_of(FlushOrder order, std::uint32_t n) const {
  std::uint32_t position = 0;
  while (!may_leave(order, position) || n-- != 0) ++position;
  return position;
}

const PendingStore& StoreBuffer::choice(FlushOrder order, std::uint32_t n) const {
  return entries_[position_of(order, n)].store;
}

PendingStore StoreBuffer::take(FlushOrder order, std::uint32_t n) {
  const std::uint32_t position = position_of(order, n);
  const PendingStore taken = entries_[position].store;
  --size_;
  std::memmove(entries_ + position, entries_ + position + 1,
               (size_ - position) * sizeof entries_[0]);
  return taken;
}

StoreBuffer::Forwarding StoreBuffer::find(std::uint64_t address, std::uint64_t bytes,
                                          std::uint64_t& value) const {
  for (std::uint32_t i = size_; i-- > 0;) {
    const PendingStore& store = entries_[i].store;
    if (!overlap(store, address, bytes)) continue;
    if (address < store.address || address + bytes > store.address + store.bytes) {
      return Forwarding::Partial;
    }
    value = store.value >> (8 * (address - store.address));
    if (bytes < 8) value &= (std::uint64_t{1} << (8 * bytes)) - 1;
    return Forwarding::Whole;
  }
  return Forwarding::None;
}

}  // namespace heddle::runtime
