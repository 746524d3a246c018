// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/program_code.h"

#include <link.h>

namespace heddle::runtime {
namespace {

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

/// The first module named is the program.
int find_code(dl_phdr_info* info, std::size_t, void* out) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    *static_cast<Range*>(out) = {begin, begin + segment.p_memsz};
  }
  return 1;
}

}  // namespace

bool is_program_code(std::uint64_t address) {
  static constinit Range code{};
  if (code.end == 0) dl_iterate_phdr(&find_code, &code);
  return code.begin <= address && address < code.end;
}

}  // namespace heddle::runtime
