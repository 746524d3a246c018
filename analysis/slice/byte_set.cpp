// SPDX-License-Identifier: Apache-2.0
#include "analysis/slice/byte_set.h"

#include <algorithm>

namespace heddle::analysis {
namespace {

constexpr std::uint64_t kCellBytes = 8;

/// Calls `use` with each cell and which of its bytes are meant.
template <typename Use>
void for_each_cell(std::uint64_t address, std::uint64_t bytes, Use use) {
  while (bytes > 0) {
    const std::uint64_t offset = address % kCellBytes;
    const std::uint64_t here = std::min(bytes, kCellBytes - offset);
    use(address / kCellBytes, static_cast<std::uint8_t>(((1u << here) - 1) << offset));
    address += here;
    bytes -= here;
  }
}

}  // namespace

void ByteSet::add(std::uint64_t address, std::uint64_t bytes, bool is_exposed) {
  for_each_cell(address, bytes, [&](std::uint64_t number, std::uint8_t mask) {
    Cell& cell = cells_[number];
    if (is_exposed && cell.exposed == 0) ++exposed_cells_;
    cell.bytes |= mask;
    if (is_exposed) cell.exposed |= mask;
  });
}

bool ByteSet::remove(std::uint64_t address, std::uint64_t bytes) {
  bool found = false;
  for_each_cell(address, bytes, [&](std::uint64_t number, std::uint8_t mask) {
    const auto known = cells_.find(number);
    if (known == cells_.end() || (known->second.bytes & mask) == 0) return;
    found = true;
    Cell& cell = known->second;
    const bool was_exposed = cell.exposed != 0;
    cell.bytes &= static_cast<std::uint8_t>(~mask);
    cell.exposed &= static_cast<std::uint8_t>(~mask);
    if (was_exposed && cell.exposed == 0) --exposed_cells_;
    if (cell.bytes == 0) cells_.erase(known);
  });
  return found;
}

}  // namespace heddle::analysis
