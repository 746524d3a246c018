// SPDX-License-Identifier: Apache-2.0
//
// The accesses of the program, done for it: exactly one machine access of the given size each.
#pragma once

#include <cstdint>

namespace heddle::runtime {

inline std::uint64_t read_memory(std::uint64_t address, unsigned bytes) {
  switch (bytes) {
    case 1: return *reinterpret_cast<const volatile std::uint8_t*>(address);
    case 2: return *reinterpret_cast<const volatile std::uint16_t*>(address);
    case 4: return *reinterpret_cast<const volatile std::uint32_t*>(address);
    default: return *reinterpret_cast<const volatile std::uint64_t*>(address);
  }
}

inline void write_memory(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  switch (bytes) {
    case 1:
      *reinterpret_cast<volatile std::uint8_t*>(address) = static_cast<std::uint8_t>(value);
      break;
    case 2:
      *reinterpret_cast<volatile std::uint16_t*>(address) = static_cast<std::uint16_t>(value);
      break;
    case 4:
      *reinterpret_cast<volatile std::uint32_t*>(address) = static_cast<std::uint32_t>(value);
      break;
    default: *reinterpret_cast<volatile std::uint64_t*>(address) = value;
  }
}

}  // namespace heddle::runtime
