// SPDX-License-Identifier: Apache-2.0
#include "ir/elf_notes.h"

#include <elf.h>

#include <cstring>

namespace heddle::ir {
namespace {

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + 3) & ~std::uint64_t{3};
}

}  // namespace

std::optional<Note> take_note(std::string_view& notes) {
  Elf64_Nhdr header;
  if (notes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, notes.data(), sizeof header);
  const std::uint64_t contents = sizeof header + aligned(header.n_namesz);
  const std::uint64_t end = contents + aligned(header.n_descsz);
  if (end > notes.size()) return std::nullopt;
  const Note note{header.n_type, notes.substr(sizeof header, header.n_namesz),
                  notes.substr(contents, header.n_descsz)};
  notes.remove_prefix(end);
  return note;
}

}  // namespace heddle::ir
