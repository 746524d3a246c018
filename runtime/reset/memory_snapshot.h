// SPDX-License-Identifier: Apache-2.0
//
// A copy of everything this process can write to, and the way back to it. Only pages that were
// written to are copied back; pages that were empty become empty again.
#pragma once

#include "runtime/reset/changes.h"
#include "runtime/reset/memory_map.h"
#include "runtime/reset/page_tracker.h"

namespace heddle::runtime {

/// Memory that outlives executions: given out from the bottom, never back.
class KeptMemory {
 public:
  KeptMemory(std::uint64_t begin, std::uint64_t end) : next_(begin), end_(end) {}
  void* take(std::uint64_t bytes);  // nullptr when there is no more

 private:
  std::uint64_t next_;
  std::uint64_t end_;
};

/// Room to work in, which holds nothing from one call to the next.
struct Workspace {
  static constexpr std::size_t kRanges = 16 << 10;
  static constexpr std::size_t kMappings = 16 << 10;
  PageRange ranges[kRanges];
  Mapping mappings[kMappings];
  char text[64 << 10];
};

/// What is learned from one execution to the next. The program could overwrite it and would slow
/// itself down.
struct ResetNotes {
  std::uint64_t usual_pages;      // written to by an execution when all pages were protected
  std::uint32_t since_protected;  // executions
  std::uint64_t mapped_pages;     // in all, and of those private and writable
  std::uint64_t writable_pages;
  std::uint64_t remapped;  // executions whose mappings had to be undone
  std::uint64_t events;    // for which there are pages in the channel
};

class MemorySnapshot {
 public:
  /// Copies, and begins to track. `stack`: an address in the first thread's stack.
  bool take(KeptMemory& memory, Workspace& workspace, ResetNotes& notes, std::uint64_t stack,
            int first_descriptor);
  /// None: memory and mappings are what they were.
  abi::ResetObstacle restore(const Changes& changes, Workspace& workspace, ResetNotes& notes) const;
  /// True if the snapshot holds contents of a page in the range.
  bool covers(std::uint64_t begin, std::uint64_t end) const;
  /// True if the range touches memory that was mapped when the snapshot was taken.
  bool overlaps_mapping(std::uint64_t begin, std::uint64_t end) const;

  /// Whether there is memory that others may have, too, and that could not be brought back.
  bool shares_memory() const;

  static constexpr int kDescriptors = 3;

 private:
  struct Run {
    std::uint64_t begin;
    std::uint64_t end;
    const char* copy;
  };

  bool save_mapping(const Mapping& mapping, KeptMemory& memory, Workspace& workspace);
  bool save_run(std::uint64_t begin, std::uint64_t end, KeptMemory& memory);
  const Run* restore_range(std::uint64_t begin, std::uint64_t end, const Run* run) const;
  bool restore_written(Workspace& workspace, ResetNotes& notes) const;
  bool restore_mappings(Workspace& workspace) const;
  bool is_intact(const Mapping& saved, const Mapping* now, std::size_t count) const;
  bool read_sizes(std::uint64_t& mapped, std::uint64_t& writable) const;

  PageTracker tracker_;
  int sizes_ = -1;  // /proc/self/statm
  std::uint64_t stack_ = 0;
  std::uint64_t program_break_ = 0;
  Mapping* mappings_ = nullptr;
  std::size_t mapping_count_ = 0;
  Run* runs_ = nullptr;
  std::size_t run_count_ = 0;
  std::size_t run_capacity_ = 0;
};

}  // namespace heddle::runtime
