// SPDX-License-Identifier: Apache-2.0
//
// A core of two threads made by hand, small enough to try everything that can be wrong with it.
#pragma once

#include <elf.h>
#include <sys/procfs.h>
#include <sys/user.h>

#include <cstring>
#include <string>
#include <string_view>

namespace heddle::sample {

inline constexpr std::uint64_t kProgramAt = 0x555555554000;
inline constexpr std::uint64_t kStackAt = 0x7ffffffde000;

template <typename Type>
std::string bytes_of(const Type& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::string note(std::uint32_t type, std::string_view contents) {
  const Elf64_Nhdr header{5, static_cast<Elf64_Word>(contents.size()), type};
  std::string bytes = bytes_of(header) + std::string("CORE\0\0\0\0", 8) + std::string(contents);
  bytes.resize((bytes.size() + 3) & ~std::size_t{3});
  return bytes;
}

inline std::string thread_note(int id, std::uint64_t rip) {
  elf_prstatus status{};
  status.pr_pid = id;
  status.pr_cursig = 11;
  user_regs_struct machine{};
  machine.rip = rip;
  machine.rsp = kStackAt;
  std::memcpy(&status.pr_reg, &machine, sizeof machine);
  return note(NT_PRSTATUS, bytes_of(status));
}

inline std::string core() {
  const std::uint64_t files[] = {1, 4096, kProgramAt, kProgramAt + 4096, 0};
  const std::uint64_t vector[] = {AT_PHDR, kProgramAt + 64, AT_NULL, 0};
  const std::string notes = thread_note(7, kProgramAt + 0x123) +
                            thread_note(8, kProgramAt + 0x200) + note(NT_AUXV, bytes_of(vector)) +
                            note(NT_FILE, bytes_of(files) + std::string("/bin/prog\0", 10));
  const std::string stack = "the bytes on the stack";
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_CORE;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Phdr parts[2]{};
  parts[0].p_type = PT_NOTE;
  parts[0].p_offset = sizeof header + sizeof parts;
  parts[0].p_filesz = notes.size();
  parts[1].p_type = PT_LOAD;
  parts[1].p_offset = parts[0].p_offset + notes.size();
  parts[1].p_vaddr = kStackAt;
  parts[1].p_filesz = parts[1].p_memsz = stack.size();
  return bytes_of(header) + bytes_of(parts) + notes + stack;
}

}  // namespace heddle::sample
