// SPDX-License-Identifier: Apache-2.0
#include "runtime/entry/kernel_files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "runtime/base/system.h"
#include "runtime/entry/kernel_result.h"

namespace heddle::runtime {
namespace {

int new_file() {
  return static_cast<int>(raw_syscall(SYS_memfd_create, word("kernel-file"), MFD_CLOEXEC));
}

bool add(int to, const char* bytes, std::size_t count) {
  while (count > 0) {
    const long written = raw_syscall(SYS_write, to, word(bytes), static_cast<long>(count));
    if (written <= 0) return false;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

/// Names may lead elsewhere (/proc/self/fd/3): what counts is where the file is.
bool is_of_kernel(int descriptor) {
  struct statfs system{};
  struct stat status{};
  return raw_syscall(SYS_fstatfs, descriptor, word(&system)) == 0 &&
         (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC) &&
         raw_syscall(SYS_fstat, descriptor, word(&status)) == 0 && S_ISREG(status.st_mode);
}

bool copy(int from, int to) {
  char bytes[4096];
  for (std::size_t copied = 0; copied <= kMostOfKernelFile;) {
    const long got = raw_syscall(SYS_read, from, word(bytes), sizeof bytes);
    if (got == 0) return raw_syscall(SYS_lseek, to, 0, SEEK_SET) == 0;
    if (got < 0 || !add(to, bytes, static_cast<std::size_t>(got))) return false;
    copied += static_cast<std::size_t>(got);
  }
  return false;
}

}  // namespace

int kernel_file_copy(int directory, const char* path, int flags) {
  if ((flags & (O_ACCMODE | O_PATH)) != O_RDONLY) return -1;
  // Some have nothing to say for a while (/proc/kmsg): not waited for.
  const long file =
      raw_syscall(SYS_openat, directory, word(path), flags | O_NONBLOCK | O_CLOEXEC, 0);
  if (file < 0) return -1;
  int made = is_of_kernel(static_cast<int>(file)) ? new_file() : -1;
  if (made >= 0 && !copy(static_cast<int>(file), made)) {
    raw_syscall(SYS_close, made);
    made = -1;
  }
  raw_syscall(SYS_close, file);
  return made;
}

int kernel_file_of(const void* bytes, std::size_t count) {
  const int made = new_file();
  if (made < 0) return -1;
  if (add(made, static_cast<const char*>(bytes), count) &&
      raw_syscall(SYS_lseek, made, 0, SEEK_SET) == 0) {
    return made;
  }
  raw_syscall(SYS_close, made);
  return -1;
}

KernelFileBytes::KernelFileBytes(int copy) {
  struct stat status{};
  if (copy < 0 || raw_syscall(SYS_fstat, copy, word(&status)) != 0 || status.st_size == 0) return;
  const long mapped = raw_syscall(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, copy, 0);
  if (mapped < 0) return;
  data_ = reinterpret_cast<void*>(mapped);
  size_ = static_cast<std::size_t>(status.st_size);
}

KernelFileBytes::~KernelFileBytes() {
  if (data_ != nullptr) raw_syscall(SYS_munmap, word(data_), static_cast<long>(size_));
}

}  // namespace heddle::runtime
