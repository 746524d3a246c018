// SPDX-License-Identifier: Apache-2.0
#include "runtime/reset/memory_map.h"

#include <fcntl.h>

#include "runtime/base/system.h"
#include "runtime/base/text.h"

namespace heddle::runtime {
namespace {

void skip_word(const char*& at) {
  while (*at != ' ') ++at;
  while (*at == ' ') ++at;
}

/// "begin-end rwxp offset device inode   path"
Mapping read_line(const char* at) {
  Mapping mapping{};
  mapping.begin = read_number(at, 16);
  ++at;
  mapping.end = read_number(at, 16);
  ++at;
  mapping.readable = at[0] == 'r';
  mapping.writable = at[1] == 'w';
  mapping.executable = at[2] == 'x';
  mapping.shared = at[3] == 's';
  for (int word = 0; word < 3; ++word) skip_word(at);
  mapping.has_file = read_number(at, 10) != 0;
  return mapping;
}

}  // namespace

std::size_t read_mappings(Mapping* out, std::size_t capacity, char* buffer, std::size_t bytes) {
  const long file = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/maps"),
                                O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::size_t count = 0;
  std::size_t kept = 0;  // the beginning of a line whose end was not read yet
  for (;;) {
    const long got = raw_syscall(SYS_read, file, reinterpret_cast<long>(buffer + kept),
                                 static_cast<long>(bytes - kept));
    if (got <= 0) break;
    const char* line = buffer;
    const char* const end = buffer + kept + got;
    for (const char* at = line; at != end; ++at) {
      if (*at != '\n') continue;
      if (count == capacity) {
        raw_syscall(SYS_close, file);
        return 0;
      }
      out[count++] = read_line(line);
      line = at + 1;
    }
    kept = static_cast<std::size_t>(end - line);
    for (std::size_t i = 0; i < kept; ++i) buffer[i] = line[i];
  }
  raw_syscall(SYS_close, file);
  return count;
}

}  // namespace heddle::runtime
