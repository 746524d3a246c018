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
// differences to the item before. Addresses are differences, too (PathAddresses).
#pragma once

#include <cstdint>

namespace heddle::abi {

enum class PathItem : std::uint8_t {
  Block = 0,   // instruction: the first one of the block that begins
  Access = 1,  // instruction, then its address: it has just accessed memory of its fixed size
  Range = 2,   // the same, then the number of bytes
  Call = 3,    // instruction: a call begins
  Enter = 4,   // difference of an address in the frame to that of the thread's last Enter or Landed
  Exit = 5,    // 0: the function that was entered last is left
  Landed = 6,  // like Enter, of the function in which an exception or longjmp ended
  Other = 7,   // even: half as many events were recorded; odd: thread (argument - 1) / 2 goes on
};

constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
constexpr std::uint64_t from_zigzag(std::uint64_t number) {
  return (number >> 1) ^ (0 - (number & 1));
}

/// What addresses are told by: the last one of an instruction with the same number modulo some. At
/// first, that is the last one of the same part of the address space, whose number stands in the
/// lowest two bits.
class PathAddresses {
 public:
  constexpr std::uint64_t number_for(std::uint32_t instruction, std::uint64_t address) {
    std::uint64_t& last = last_[instruction % kInstructions];
    std::uint64_t number = zigzag(address - last);
    if (last == 0) {
      std::uint64_t& near = near_[part_of(address)];
      number = (zigzag(address - near) << 2) | part_of(address);
      near = address;
    }
    last = address;
    return number;
  }
  constexpr std::uint64_t address_for(std::uint32_t instruction, std::uint64_t number) {
    std::uint64_t& last = last_[instruction % kInstructions];
    if (last == 0) {
      std::uint64_t& near = near_[number % kParts];
      near += from_zigzag(number >> 2);
      last = near;
    } else {
      last += from_zigzag(number);
    }
    return last;
  }

 private:
  static constexpr std::uint32_t kInstructions = 1024;
  static constexpr std::uint32_t kParts = 4;
  static constexpr std::uint64_t part_of(std::uint64_t address) { return (address >> 36) % kParts; }

  std::uint64_t last_[kInstructions] = {};
  std::uint64_t near_[kParts] = {};
};

/// The same for frames: the thread's last one, at first the last one of all.
class PathFrames {
 public:
  constexpr std::uint64_t number_for(std::uint32_t thread, std::uint64_t frame) {
    const std::uint64_t number = zigzag(frame - before(thread));
    note(thread, frame);
    return number;
  }
  constexpr std::uint64_t frame_for(std::uint32_t thread, std::uint64_t number) {
    const std::uint64_t frame = before(thread) + from_zigzag(number);
    note(thread, frame);
    return frame;
  }

 private:
  static constexpr std::uint32_t kThreads = 64;
  constexpr std::uint64_t before(std::uint32_t thread) const {
    const std::uint64_t last = last_[thread % kThreads];
    return last == 0 ? near_ : last;
  }
  constexpr void note(std::uint32_t thread, std::uint64_t frame) {
    last_[thread % kThreads] = near_ = frame;
  }

  std::uint64_t last_[kThreads] = {};
  std::uint64_t near_ = 0;
};

/// A number has at most this many bytes, an item three numbers and what says that another thread
/// goes on and how many events there were.
inline constexpr std::uint64_t kPathNumberBytes = 10;
inline constexpr std::uint64_t kPathItemBytes = 5 * kPathNumberBytes;

}  // namespace heddle::abi
