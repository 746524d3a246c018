// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/program_code.h"

#include <link.h>

namespace heddle::runtime {
namespace {

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t base;  // what addresses in the file are relative to
};

/// The first module named is the program.
int find_code(dl_phdr_info* info, std::size_t, void* out) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    *static_cast<Range*>(out) = {begin, begin + segment.p_memsz, info->dlpi_addr};
  }
  return 1;
}

const Range& program_code() {
  static constinit Range code{};
  if (code.end == 0) dl_iterate_phdr(&find_code, &code);
  return code;
}

}  // namespace

bool is_program_code(std::uint64_t address) {
  const Range& code = program_code();
  return code.begin <= address && address < code.end;
}

abi::SiteId code_site(const void* return_address) {
  const auto address = reinterpret_cast<std::uint64_t>(return_address);
  const Range& code = program_code();
  if (address < code.begin || code.end <= address) return abi::kUnknownSite;
  const std::uint64_t place = address - code.base;
  return place < abi::kCodeSites ? abi::kCodeSites + static_cast<abi::SiteId>(place)
                                 : abi::kUnknownSite;
}

}  // namespace heddle::runtime
