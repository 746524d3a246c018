// SPDX-License-Identifier: Apache-2.0
#include "runtime/entry/statistics.h"

#include <sys/mman.h>

#include <cstring>

#include "runtime/base/text.h"
#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"

namespace heddle::runtime {
namespace {

struct File {
  const char* path;
  const char* text;
};
// As proc(5) lists them; 256 MB of addresses, of which 64 MB are in memory.
constexpr File kFiles[] = {
    {"/proc/self/stat",
     "1 (program) R 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 0 268435456 16384 "
     "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"},
    {"/proc/self/statm", "65536 16384 1024 64 0 8192 0\n"},
};

}  // namespace

int statistics_open(const char* path) {
  for (const File& file : kFiles) {
    if (path == nullptr || !same_text(path, file.path)) continue;
    const long descriptor = raw_syscall(SYS_memfd_create, word("statistics"), MFD_CLOEXEC);
    if (descriptor < 0) return -1;
    raw_syscall(SYS_pwrite64, descriptor, word(file.text),
                static_cast<long>(std::strlen(file.text)), 0);
    return static_cast<int>(descriptor);
  }
  return -1;
}

}  // namespace heddle::runtime
