// SPDX-License-Identifier: Apache-2.0
//
// Files of /proc and /sys say something else each time they are read. A recorded program reads a
// copy, made when it opens one, and its replay the same copy.
#pragma once

#include <cstddef>

namespace heddle::runtime {

/// Longer ones are not copied.
inline constexpr std::size_t kMostOfKernelFile = 1 << 20;

/// A descriptor for reading a copy of the file; -1 where `path` is no file of the kernel's, or one
/// that cannot be copied, or is not to be read.
int kernel_file_copy(int directory, const char* path, int flags);
/// A descriptor for reading `bytes`.
int kernel_file_of(const void* bytes, std::size_t count);

/// What a copy holds, while this lives.
class KernelFileBytes {
 public:
  explicit KernelFileBytes(int copy);
  ~KernelFileBytes();
  KernelFileBytes(const KernelFileBytes&) = delete;
  KernelFileBytes& operator=(const KernelFileBytes&) = delete;

  void* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace heddle::runtime
