// SPDX-License-Identifier: Apache-2.0
#include "ir/machine_state.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "ir/elf_notes.h"

namespace heddle::ir {
namespace {

constexpr std::size_t kMostHeaders = 256;
constexpr std::size_t kMostNotes = 64 << 10;

template <typename Type>
std::optional<Type> object_at(const MachineState& state, std::uint64_t address) {
  Type object;
  if (!state.read_exactly(address, {reinterpret_cast<char*>(&object), sizeof object})) return {};
  return object;
}

std::string hexadecimal(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::string build_id_among(std::string_view notes) {
  constexpr std::string_view kGnu(ELF_NOTE_GNU, sizeof ELF_NOTE_GNU);
  while (const std::optional<Note> note = take_note(notes)) {
    if (note->type == NT_GNU_BUILD_ID && note->owner == kGnu) return hexadecimal(note->contents);
  }
  return {};
}

}  // namespace

std::string loaded_build_id(const MachineState& state, std::uint64_t begin) {
  const auto header = object_at<Elf64_Ehdr>(state, begin);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_phentsize != sizeof(Elf64_Phdr)) {
    return {};
  }
  std::vector<Elf64_Phdr> parts;
  for (std::size_t i = 0; i < std::min<std::size_t>(header->e_phnum, kMostHeaders); ++i) {
    const auto part =
        object_at<Elf64_Phdr>(state, begin + header->e_phoff + i * sizeof(Elf64_Phdr));
    if (part) parts.push_back(*part);
  }
  // `begin` is where offset 0 of the file is; addresses in it count from there.
  const auto first = std::ranges::find_if(
      parts, [](const Elf64_Phdr& part) { return part.p_type == PT_LOAD && part.p_offset == 0; });
  const std::uint64_t bias = begin - (first == parts.end() ? 0 : first->p_vaddr);
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type != PT_NOTE || part.p_filesz > kMostNotes) continue;
    std::string notes(part.p_filesz, '\0');
    if (!state.read_exactly(bias + part.p_vaddr, notes)) continue;
    if (std::string id = build_id_among(notes); !id.empty()) return id;
  }
  return {};
}

}  // namespace heddle::ir
