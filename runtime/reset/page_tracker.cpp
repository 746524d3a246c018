// SPDX-License-Identifier: Apache-2.0
#include "runtime/reset/page_tracker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include <initializer_list>

#include "runtime/base/system.h"

namespace heddle::runtime {
namespace {

// From the kernel's headers of 6.7; those of the distribution may be older than the kernel that
// runs.
struct ScanArgument {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t walk_end;
  std::uint64_t vec;
  std::uint64_t vec_len;
  std::uint64_t max_pages;
  std::uint64_t category_inverted;
  std::uint64_t category_mask;
  std::uint64_t category_anyof_mask;
  std::uint64_t return_mask;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanArgument);
constexpr std::uint64_t kProtectMatching = 1 << 0;
constexpr std::uint64_t kCheckTracked = 1 << 1;
constexpr std::uint64_t kIsTracked = 1 << 0;
constexpr std::uint64_t kIsWritten = 1 << 1;
constexpr std::uint64_t kIsPresent = 1 << 3;
constexpr std::uint64_t kIsSwapped = 1 << 4;
constexpr std::uint64_t kIsZeroPage = 1 << 5;
constexpr std::uint64_t kAsyncProtect = 1 << 15;  // UFFD_FEATURE_WP_ASYNC
constexpr long kUserModeOnly = 1;                 // UFFD_USER_MODE_ONLY

long control(int descriptor, unsigned long request, void* argument) {
  return raw_syscall(SYS_ioctl, descriptor, static_cast<long>(request),
                     reinterpret_cast<long>(argument));
}

int move_descriptor(long descriptor, int number) {
  if (descriptor < 0) return -1;
  const long moved = raw_syscall(SYS_dup3, descriptor, number, O_CLOEXEC);
  raw_syscall(SYS_close, descriptor);
  return static_cast<int>(moved);
}

/// Pages that have all of `mask` and are no zero pages: those hold nothing to save or restore.
long scan(int pages, std::uint64_t flags, std::uint64_t mask, std::uint64_t& begin,
          std::uint64_t end, PageRange* out, long capacity) {
  ScanArgument argument{};
  argument.size = sizeof argument;
  argument.flags = flags;
  argument.start = begin;
  argument.end = end;
  argument.vec = reinterpret_cast<std::uint64_t>(out);
  argument.vec_len = static_cast<std::uint64_t>(capacity);
  argument.category_mask = mask | kIsZeroPage;
  argument.category_inverted = kIsZeroPage;
  argument.category_anyof_mask = kIsPresent | kIsSwapped;
  const long found = control(pages, kPagemapScan, &argument);
  begin = argument.walk_end;
  return found;
}

}  // namespace

bool PageTracker::open_to_look(int descriptor) {
  pages_ = move_descriptor(
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/pagemap"),
                  O_RDONLY | O_CLOEXEC),
      descriptor);
  return pages_ >= 0;
}

void PageTracker::close() {
  for (int* const descriptor : {&faults_, &pages_}) {
    if (*descriptor >= 0) raw_syscall(SYS_close, *descriptor);
    *descriptor = -1;
  }
}

bool PageTracker::open(int first_descriptor) {
  faults_ =
      move_descriptor(raw_syscall(SYS_userfaultfd, O_CLOEXEC | kUserModeOnly), first_descriptor);
  if (!open_to_look(first_descriptor + 1) || faults_ < 0) return false;
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kAsyncProtect;
  return control(faults_, UFFDIO_API, &api) == 0;
}

bool PageTracker::track(std::uint64_t begin, std::uint64_t end) const {
  uffdio_register range{};
  range.range.start = begin;
  range.range.len = end - begin;
  range.mode = UFFDIO_REGISTER_MODE_WP;
  return control(faults_, UFFDIO_REGISTER, &range) == 0;
}

bool PageTracker::is_tracked(std::uint64_t begin, std::uint64_t end) const {
  // No page is both: nothing is reported, and the kernel looks at every mapping.
  PageRange none{};
  return scan(pages_, kCheckTracked, kIsPresent | kIsSwapped, begin, end, &none, 1) >= 0;
}

long PageTracker::find_present(std::uint64_t& begin, std::uint64_t end, PageRange* out,
                               long capacity) const {
  const std::uint64_t from = begin;
  const long found = scan(pages_, 0, 0, begin, end, out, capacity);
  if (found != -ENOTTY) return found;
  begin = from;
  return read_present(begin, end, out, capacity);
}

long PageTracker::read_present(std::uint64_t& begin, std::uint64_t end, PageRange* out,
                               long capacity) const {
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kPresentOrSwapped = 3ull << 62;
  constexpr std::uint64_t kAtOnce = 4096;
  std::uint64_t entries[kAtOnce];
  long found = 0;
  while (begin < end) {
    const std::uint64_t left = (end - begin) / kPage;
    const std::uint64_t wanted = left < kAtOnce ? left : kAtOnce;
    const long got = raw_syscall(SYS_pread64, pages_, reinterpret_cast<long>(entries),
                                 static_cast<long>(wanted * sizeof entries[0]),
                                 static_cast<long>(begin / kPage * sizeof entries[0]));
    if (got <= 0) return got < 0 ? got : -EIO;
    const auto count = static_cast<std::uint64_t>(got) / sizeof entries[0];
    for (std::uint64_t i = 0; i < count; ++i, begin += kPage) {
      if ((entries[i] & kPresentOrSwapped) == 0) continue;
      if (found > 0 && out[found - 1].end == begin) {
        out[found - 1].end += kPage;
        continue;
      }
      if (found == capacity) return found;
      out[found++] = {begin, begin + kPage, kIsPresent};
    }
  }
  return found;
}

// Also asking for "present" keeps the kernel from reporting pages that were never touched: it has
// no mark on those either.
long PageTracker::find_written(std::uint64_t& begin, std::uint64_t end, PageRange* out,
                               long capacity) const {
  return scan(pages_, 0, kIsTracked | kIsWritten, begin, end, out, capacity);
}

bool PageTracker::protect_all(PageRange* scratch, long capacity) const {
  std::uint64_t begin = 0;
  while (begin < kMemoryEnd) {
    if (scan(pages_, kProtectMatching, kIsTracked | kIsWritten, begin, kMemoryEnd, scratch,
             capacity) < 0) {
      return false;
    }
  }
  return true;
}

}  // namespace heddle::runtime
