// SPDX-License-Identifier: Apache-2.0
//
// Which pages of this process were written to: userfaultfd in its asynchronous write-protect mode
// marks them, PAGEMAP_SCAN reads the marks (Linux 6.7). Nothing here needs privileges: no fault is
// ever handled by anybody.
#pragma once

#include <cstdint>

namespace heddle::runtime {

/// As the kernel writes them: a run of pages.
struct PageRange {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t categories;
};

/// Plain data: it is kept where the program cannot write.
class PageTracker {
 public:
  /// `first_descriptor`: the two it needs are numbered from there on. False when this kernel cannot
  /// do it.
  bool open(int first_descriptor);

  /// Only to find pages that are present: at `descriptor`.
  bool open_to_look(int descriptor);
  void close();

  /// Writes to private memory in this range are noticed from now on.
  bool track(std::uint64_t begin, std::uint64_t end) const;
  /// True if the whole of it is still as track() made it.
  bool is_tracked(std::uint64_t begin, std::uint64_t end) const;

  /// Pages with contents of their own in [begin, end), into `out`; advances `begin` to where the
  /// next call has to go on. Negative: an error.
  long find_present(std::uint64_t& begin, std::uint64_t end, PageRange* out, long capacity) const;
  /// The same on a kernel before 6.7, which has to be asked for each page; pages that were only
  /// read are among them.
  long read_present(std::uint64_t& begin, std::uint64_t end, PageRange* out, long capacity) const;
  /// The tracked pages that were written to since they were last protected, likewise.
  long find_written(std::uint64_t& begin, std::uint64_t end, PageRange* out, long capacity) const;
  /// Forgets that any page was written to. `scratch`: room that the kernel wants.
  bool protect_all(PageRange* scratch, long capacity) const;

 private:
  int faults_ = -1;
  int pages_ = -1;
};

/// Where user memory ends on x86-64 with four levels of page tables.
inline constexpr std::uint64_t kMemoryEnd = 0x7fff'ffff'f000;

}  // namespace heddle::runtime
