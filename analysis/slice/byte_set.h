// SPDX-License-Identifier: Apache-2.0
//
// Bytes of memory by address, each exposed (code outside the program may have written it) or not.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace heddle::analysis {

class ByteSet {
 public:
  void add(std::uint64_t address, std::uint64_t bytes, bool is_exposed);
  /// True if any of them was in it.
  bool remove(std::uint64_t address, std::uint64_t bytes);
  bool has_exposed() const { return exposed_cells_ > 0; }

 private:
  struct Cell {
    std::uint8_t bytes = 0;    // a bit each
    std::uint8_t exposed = 0;  // of these
  };
  std::unordered_map<std::uint64_t, Cell> cells_;
  std::size_t exposed_cells_ = 0;
};

}  // namespace heddle::analysis
