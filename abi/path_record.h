// SPDX-License-Identifier: Apache-2.0
//
// The way of an execution through the program's instructions: which blocks each thread came
// through, what it called, which memory it accessed. Written by the runtime in the variant
// "instructions" into the channel's region `path`, in the order in which it happened, all threads
// in one; read by analysis/slice.
//
// A sequence of items. Each begins with a number whose lowest three bits are its PathItem and whose
// rest is its argument; further numbers follow as said there. Numbers are written seven bits a
// byte, the lowest first, the top bit set in all bytes but the last; differences zigzag (0, -1, 1,
// -2 ...). Instructions are named by their numbers in the site table (abi/site_record.h), as
// differences to the item before; an address is the difference to the last one of an instruction
// with the same number modulo kPathAddresses, zero at first.
#pragma once

#include <cstdint>

namespace heddle::abi {

enum class PathItem : std::uint8_t {
  Block = 0,   // instruction: the first one of the block that begins
  Access = 1,  // instruction, then its address: it has just accessed memory of its fixed size
  Range = 2,   // the same, then the number of bytes
  Call = 3,    // instruction: a call begins
  Enter = 4,   // difference of an address in the frame to that of the last Enter or Landed
  Exit = 5,    // 0: the function that was entered last is left
  Landed = 6,  // like Enter, of the function in which an exception or longjmp ended
  Other = 7,   // even: half as many events were recorded; odd: thread (argument - 1) / 2 goes on
};

inline constexpr std::uint32_t kPathAddresses = 1024;

constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
constexpr std::uint64_t from_zigzag(std::uint64_t number) {
  return (number >> 1) ^ (0 - (number & 1));
}

/// A number has at most this many bytes, an item three numbers and what says that another thread
/// goes on and how many events there were.
inline constexpr std::uint64_t kPathNumberBytes = 10;
inline constexpr std::uint64_t kPathItemBytes = 5 * kPathNumberBytes;

}  // namespace heddle::abi
