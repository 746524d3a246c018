// SPDX-License-Identifier: Apache-2.0
//
// Notes of an ELF file: what compilers, linkers and the kernel say beside code and data.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::ir {

struct Note {
  std::uint32_t type;
  std::string_view owner;  // with the zero byte at its end
  std::string_view contents;
};

/// The first of `notes`, which are the rest from then on. Nothing: it is cut off.
std::optional<Note> take_note(std::string_view& notes);

}  // namespace heddle::ir
