// SPDX-License-Identifier: Apache-2.0
#include "runtime/reset/kernel_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>

#include "runtime/base/system.h"

namespace heddle::runtime {
namespace {

constexpr long kMaskBytes = 8;

long open_directory(const char* path, int number) {
  const long descriptor =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return descriptor;
  const long moved = raw_syscall(SYS_dup3, descriptor, number, O_CLOEXEC);
  raw_syscall(SYS_close, descriptor);
  return moved;
}

/// Linux 6.2 and later; earlier kernels say 0.
long count_open(int table) {
  struct stat status{};
  const long error = raw_syscall(SYS_fstat, table, reinterpret_cast<long>(&status));
  return error != 0 ? error : status.st_size;
}

/// Calls `visit` with the number of each open descriptor.
template <typename Visit>
bool for_each_open(int table, Visit visit) {
  struct Entry {
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t bytes;
    std::uint8_t type;
    char name[1];
  };
  alignas(Entry) char buffer[4096];
  raw_syscall(SYS_lseek, table, 0, SEEK_SET);
  for (;;) {
    const long got =
        raw_syscall(SYS_getdents64, table, reinterpret_cast<long>(buffer), sizeof buffer);
    if (got <= 0) return got == 0;
    for (long at = 0; at < got;) {
      const auto& entry = *reinterpret_cast<const Entry*>(buffer + at);
      at += entry.bytes;
      if (entry.name[0] < '0' || entry.name[0] > '9') continue;
      int number = 0;
      for (const char* digit = entry.name; *digit != 0; ++digit)
        number = number * 10 + *digit - '0';
      if (!visit(number)) return false;
    }
  }
}

}  // namespace

void OpenFiles::look() {
  count_ = 0;
  const int table =
      static_cast<int>(raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/fd"),
                                   O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  const bool complete = for_each_open(table, [&](int number) {
    if (number == table || number >= abi::kChannelDescriptor) return true;
    struct stat status{};
    if (count_ == kMost || raw_syscall(SYS_fstat, number, reinterpret_cast<long>(&status)) != 0) {
      return false;
    }
    files_[count_++] = {number, status.st_dev, status.st_ino};
    return true;
  });
  raw_syscall(SYS_close, table);
  if (!complete) count_ = kTooMany;
}

bool OpenFiles::operator==(const OpenFiles& other) const {
  if (count_ == kTooMany || count_ != other.count_) return false;
  for (int i = 0; i < count_; ++i) {
    const File& one = files_[i];
    const File& two = other.files_[i];
    if (one.number != two.number || one.device != two.device || one.inode != two.inode) {
      return false;
    }
  }
  return true;
}

bool KernelState::save(int first_descriptor) {
  if (!save_descriptors(first_descriptor)) return false;
  // umask cannot be read without being set.
  file_mask_ = static_cast<unsigned>(raw_syscall(SYS_umask, 0));
  raw_syscall(SYS_umask, file_mask_);
  for (int i = 0; i < kLimits; ++i) {
    raw_syscall(SYS_prlimit64, 0, i, 0, reinterpret_cast<long>(&limits_[i]));
  }
  group_count_ = raw_syscall(SYS_getgroups, kMaxGroups, reinterpret_cast<long>(groups_));
  for (int i = 0; i < kSignals; ++i) {
    raw_syscall(SYS_rt_sigaction, i + 1, 0, reinterpret_cast<long>(&dispositions_[i]), kMaskBytes);
  }
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&blocked_), kMaskBytes);
  raw_syscall(SYS_sigaltstack, 0, reinterpret_cast<long>(&signal_stack_));
  return true;
}

bool KernelState::save_descriptors(int first_descriptor) {
  first_own_ = abi::kChannelDescriptor + 1;
  directory_ = static_cast<int>(open_directory(".", first_descriptor));
  table_ = static_cast<int>(open_directory("/proc/self/fd", first_descriptor + 1));
  if (directory_ < 0 || table_ < 0) return false;
  int next = first_descriptor + 2;
  const bool complete = for_each_open(table_, [&](int number) {
    if (number >= first_own_) return true;
    if (descriptor_count_ == kMaxDescriptors) return false;
    descriptors_[descriptor_count_++] = {number, next++,
                                         static_cast<int>(raw_syscall(SYS_fcntl, number, F_GETFD)),
                                         static_cast<int>(raw_syscall(SYS_fcntl, number, F_GETFL))};
    return true;
  });
  if (!complete) return false;
  for (int i = 0; i < descriptor_count_; ++i) {
    const Descriptor& descriptor = descriptors_[i];
    if (raw_syscall(SYS_dup3, descriptor.number, descriptor.duplicate, O_CLOEXEC) < 0) return false;
  }
  open_count_ = count_open(table_);
  return open_count_ > 0;
}

bool KernelState::is_known(int descriptor) const {
  if (descriptor >= first_own_ && descriptor <= descriptors_[descriptor_count_ - 1].duplicate) {
    return true;
  }
  for (int i = 0; i < descriptor_count_; ++i) {
    if (descriptors_[i].number == descriptor) return true;
  }
  return false;
}

void KernelState::close_unknown() const {
  for_each_open(table_, [this](int number) {
    if (!is_known(number)) raw_syscall(SYS_close, number);
    return true;
  });
}

bool KernelState::restore_descriptors(bool flags_changed) const {
  constexpr int kIsDuplicate = 1027;  // F_DUPFD_QUERY, Linux 6.10; earlier kernels give an error
  for (int i = 0; i < descriptor_count_; ++i) {
    const Descriptor& descriptor = descriptors_[i];
    if (raw_syscall(SYS_fcntl, descriptor.number, kIsDuplicate, descriptor.duplicate) != 1 ||
        (flags_changed &&
         raw_syscall(SYS_fcntl, descriptor.number, F_GETFD) != descriptor.descriptor_flags)) {
      const long flags = (descriptor.descriptor_flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0;
      if (raw_syscall(SYS_dup3, descriptor.duplicate, descriptor.number, flags) < 0) return false;
    }
    if (raw_syscall(SYS_fcntl, descriptor.number, F_GETFL) != descriptor.status_flags) {
      raw_syscall(SYS_fcntl, descriptor.number, F_SETFL, descriptor.status_flags);
    }
  }
  if (raw_syscall(SYS_fchdir, directory_) != 0) return false;
  if (count_open(table_) == open_count_) return true;
  close_unknown();
  return count_open(table_) == open_count_;
}

bool KernelState::restore_limits() const {
  for (int i = 0; i < kLimits; ++i) {
    Limit limit{};
    raw_syscall(SYS_prlimit64, 0, i, 0, reinterpret_cast<long>(&limit));
    if (limit == limits_[i]) continue;
    if (raw_syscall(SYS_prlimit64, 0, i, reinterpret_cast<long>(&limits_[i]), 0) != 0) return false;
  }
  return true;
}

bool KernelState::restore_groups() const {
  return group_count_ >= 0 &&
         raw_syscall(SYS_setgroups, group_count_, reinterpret_cast<long>(groups_)) == 0;
}

abi::ResetObstacle KernelState::restore(const Changes& changes) const {
  siginfo_t child{};
  if (raw_syscall(SYS_waitid, P_ALL, 0, reinterpret_cast<long>(&child),
                  WEXITED | WNOHANG | WNOWAIT | __WALL, 0) != -ECHILD) {
    return abi::ResetObstacle::Children;
  }
  std::uint64_t pending = 0;
  raw_syscall(SYS_rt_sigpending, reinterpret_cast<long>(&pending), kMaskBytes);
  if (pending != 0) return abi::ResetObstacle::PendingSignals;
  // Limits first: one of them says which numbers descriptors may have.
  if (changes.limits && !restore_limits()) return abi::ResetObstacle::ProcessState;
  if (!restore_descriptors(changes.descriptor_flags)) return abi::ResetObstacle::Descriptors;
  if (changes.groups && !restore_groups()) return abi::ResetObstacle::ProcessState;
  raw_syscall(SYS_umask, file_mask_);
  if (changes.signals) {
    for (int i = 0; i < kSignals; ++i) {
      raw_syscall(SYS_rt_sigaction, i + 1, reinterpret_cast<long>(&dispositions_[i]), 0,
                  kMaskBytes);
    }
  }
  raw_syscall(SYS_sigaltstack, reinterpret_cast<long>(&signal_stack_), 0);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&blocked_), 0, kMaskBytes);
  return abi::ResetObstacle::None;
}

void KernelState::block_signals() {
  const std::uint64_t all = ~0ull;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all), 0, kMaskBytes);
}

}  // namespace heddle::runtime
