// SPDX-License-Identifier: Apache-2.0
#include "runtime/reset/page_tracker.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

namespace heddle::runtime {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr int kDescriptor = 200;

using Find = long (PageTracker::*)(std::uint64_t&, std::uint64_t, PageRange*, long) const;

/// Numbers of the pages that are present, found in pieces of `capacity`.
std::vector<std::uint64_t> found(Find find, const char* memory, std::uint64_t pages,
                                 long capacity) {
  PageTracker tracker;
  EXPECT_TRUE(tracker.open_to_look(kDescriptor));
  const auto first = reinterpret_cast<std::uint64_t>(memory);
  std::vector<PageRange> ranges(static_cast<std::size_t>(capacity));
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t at = first; at < first + pages * kPage;) {
    const long count = (tracker.*find)(at, first + pages * kPage, ranges.data(), capacity);
    EXPECT_GE(count, 0);
    if (count < 0) break;
    for (long i = 0; i < count; ++i) {
      for (std::uint64_t page = ranges[i].begin; page < ranges[i].end; page += kPage) {
        numbers.push_back((page - first) / kPage);
      }
    }
  }
  tracker.close();
  return numbers;
}

TEST(PageTracker, FindsWhatWasWrittenOnEveryKernel) {
  constexpr std::uint64_t kPages = 20000;  // more than are asked for at once
  auto* const memory = static_cast<char*>(mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  madvise(memory, kPages * kPage, MADV_NOHUGEPAGE);
  const std::vector<std::uint64_t> written = {0, 1, 7, 4095, 4096, 4097, 9000, kPages - 1};
  for (const std::uint64_t page : written) memory[page * kPage] = 1;
  for (const long capacity : {1L, 2L, 100L}) {
    EXPECT_EQ(found(&PageTracker::read_present, memory, kPages, capacity), written);
    EXPECT_EQ(found(&PageTracker::find_present, memory, kPages, capacity), written);
  }
  munmap(memory, kPages * kPage);
}

}  // namespace
}  // namespace heddle::runtime
