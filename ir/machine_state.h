// SPDX-License-Identifier: Apache-2.0
//
// A program that stands still, as far as walking its stacks needs it: where its files are loaded,
// the registers of its threads, and its memory. A core file is one (core_file.h), a process while
// it is stopped (stopped_process.h), and what a failing execution left behind
// (driver/failure_stacks.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heddle::ir {

/// General registers of x86-64 by their numbers in DWARF.
struct Registers {
  enum Number : unsigned { Rbx = 3, Rbp = 6, Rsp = 7, R12 = 12, R13, R14, R15, Rip, Count };
  std::array<std::uint64_t, Count> value{};
};

class MachineState {
 public:
  struct Mapping {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t offset;  // of `begin` in the file
    std::string file;
  };
  struct Thread {
    long id;
    Registers registers;
  };

  virtual ~MachineState() = default;
  /// Of files, sorted by address.
  virtual const std::vector<Mapping>& mappings() const = 0;
  virtual const std::vector<Thread>& threads() const = 0;
  /// How many bytes from `address` on could be read: fewer than wanted where memory ends, 0 where
  /// there is none.
  virtual std::size_t read(std::uint64_t address, std::span<char> to) const = 0;

  bool read_exactly(std::uint64_t address, std::span<char> to) const {
    return read(address, to) == to.size();
  }
};

/// The build-id of an ELF file that is loaded at `begin`, read from memory; empty if it has none or
/// memory does not hold it.
std::string loaded_build_id(const MachineState& state, std::uint64_t begin);

}  // namespace heddle::ir
