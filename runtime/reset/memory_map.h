// SPDX-License-Identifier: Apache-2.0
//
// The mappings of this process, as /proc/self/maps lists them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::runtime {

struct Mapping {
  std::uint64_t begin;
  std::uint64_t end;
  bool readable;
  bool writable;
  bool executable;
  bool shared;
  bool has_file;

  bool same_kind(const Mapping& other) const {
    return readable == other.readable && writable == other.writable &&
           executable == other.executable && shared == other.shared && has_file == other.has_file;
  }
};

/// In ascending order. `buffer`: room for the kernel's text, at least a page. 0: cannot be read, or
/// more than `capacity`.
std::size_t read_mappings(Mapping* out, std::size_t capacity, char* buffer, std::size_t bytes);

}  // namespace heddle::runtime
