// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>

// Where this library begins, by the linker.
extern "C" [[gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;

namespace heddle::runtime {
namespace {

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + 3) & ~std::size_t{3};
}

void write_hexadecimal(char* out, const unsigned char* bytes, std::size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < count; ++i) {
    *out++ = kDigits[bytes[i] >> 4];
    *out++ = kDigits[bytes[i] & 15];
  }
  *out = 0;
}

}  // namespace

void read_own_build_id(char (&out)[abi::kImageBuildIdBytes]) {
  const auto* const begin = reinterpret_cast<const char*>(&__ehdr_start);
  const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(begin + __ehdr_start.e_phoff);
  out[0] = 0;
  for (unsigned i = 0; i < __ehdr_start.e_phnum; ++i) {
    if (segments[i].p_type != PT_NOTE) continue;
    const char* at = begin + segments[i].p_vaddr;
    for (const char* const end = at + segments[i].p_memsz; at < end;) {
      const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(at);
      const char* const name = at + sizeof note;
      const char* const bytes = name + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && std::strcmp(name, "GNU") == 0 &&
          2 * note.n_descsz < sizeof out) {
        write_hexadecimal(out, reinterpret_cast<const unsigned char*>(bytes), note.n_descsz);
      }
      at = bytes + padded(note.n_descsz);
    }
  }
}

}  // namespace heddle::runtime
