// SPDX-License-Identifier: Apache-2.0
//
// What the kernel holds for this process besides its memory: descriptors, signal state, working
// directory, limits, groups. Put back after every execution, or found to be beyond that. Identity,
// timers and the like are not looked at: whoever changes them is noticed doing so (changes.h).
#pragma once

#include <signal.h>

#include "runtime/reset/changes.h"

namespace heddle::runtime {

/// Which descriptors are open, and of what, but for Heddle's own.
class OpenFiles {
 public:
  void look();
  /// False also where there are more than can be compared.
  bool operator==(const OpenFiles& other) const;

 private:
  struct File {
    int number;
    std::uint64_t device;
    std::uint64_t inode;
  };
  static constexpr int kMost = 32;
  static constexpr int kTooMany = kMost + 1;
  File files_[kMost] = {};
  int count_ = kTooMany;
};

/// Plain data: it is kept where the program cannot write.
class KernelState {
 public:
  static constexpr int kMaxDescriptors = 32;
  /// Duplicates of the program's descriptors, and two more.
  static constexpr int kDescriptors = kMaxDescriptors + 2;

  /// `first_descriptor`: those it needs for itself are numbered from there on; call after all
  /// others that are to stay open were opened.
  bool save(int first_descriptor);
  abi::ResetObstacle restore(const Changes& changes) const;

  /// Nothing of the program's may run while an execution is being undone.
  static void block_signals();

 private:
  /// As the kernel has it, not as libc shows it.
  struct Disposition {
    void* handler;
    unsigned long flags;
    void* restorer;
    std::uint64_t mask;
  };
  struct Descriptor {
    int number;
    int duplicate;
    int descriptor_flags;
    int status_flags;
  };
  static constexpr int kSignals = 64;
  static constexpr long kMaxGroups = 64;
  struct Limit {
    std::uint64_t now;
    std::uint64_t most;
    bool operator==(const Limit&) const = default;
  };
  static constexpr int kLimits = 16;

  bool save_descriptors(int first_descriptor);
  bool restore_descriptors(bool flags_changed) const;
  bool is_known(int descriptor) const;
  void close_unknown() const;
  /// Who has given up being allowed to cannot.
  bool restore_groups() const;
  bool restore_limits() const;

  Descriptor descriptors_[kMaxDescriptors] = {};
  int descriptor_count_ = 0;
  int first_own_ = 0;  // the descriptors of Heddle's own: from here on
  int directory_ = -1;
  int table_ = -1;  // /proc/self/fd: its size is the number of open descriptors
  long open_count_ = 0;
  unsigned file_mask_ = 0;
  Limit limits_[kLimits] = {};
  unsigned groups_[kMaxGroups] = {};
  long group_count_ = 0;  // negative: there are more
  Disposition dispositions_[kSignals] = {};
  std::uint64_t blocked_ = 0;
  stack_t signal_stack_{};
};

}  // namespace heddle::runtime
