// SPDX-License-Identifier: Apache-2.0
//
// Which file the program is. The kernel says the variant that is executed; files that a program
// looks for beside itself are beside the one that the user started.
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "runtime/base/system.h"
#include "runtime/base/text.h"
#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"
#include "runtime/environment/stand_ins.h"

using namespace heddle::runtime;

namespace {

/// Null: it is not asked for, or is what the kernel says.
const char* own_file(const char* path) {
  return same_text(path, "/proc/self/exe") ? stand_ins().find(path) : nullptr;
}

}  // namespace

HEDDLE_ENTRY ssize_t readlinkat(int directory, const char* path, char* target,
                                size_t size) noexcept {
  if (const char* const file = own_file(path)) {
    const std::size_t length = std::min(std::strlen(file), size);
    std::copy_n(file, length, target);  // without an end, as the kernel has it
    return static_cast<ssize_t>(length);
  }
  return result_of(
      raw_syscall(SYS_readlinkat, directory, word(path), word(target), static_cast<long>(size)));
}

HEDDLE_ENTRY ssize_t readlink(const char* path, char* target, size_t size) noexcept {
  return readlinkat(AT_FDCWD, path, target, size);
}

HEDDLE_ENTRY ssize_t __readlink_chk(const char* path, char* target, size_t size, size_t room) {
  if (size > room) abort();
  return readlink(path, target, size);
}

HEDDLE_ENTRY ssize_t __readlinkat_chk(int directory, const char* path, char* target, size_t size,
                                      size_t room) {
  if (size > room) abort();
  return readlinkat(directory, path, target, size);
}

HEDDLE_ENTRY char* realpath(const char* path, char* target) noexcept {
  const char* const file = path == nullptr ? nullptr : own_file(path);
  return real().realpath(file == nullptr ? path : file, target);
}

HEDDLE_ENTRY char* __realpath_chk(const char* path, char* target, size_t room) noexcept {
  if (room < PATH_MAX) abort();
  return realpath(path, target);
}

HEDDLE_ENTRY char* canonicalize_file_name(const char* path) noexcept {
  return realpath(path, nullptr);
}
