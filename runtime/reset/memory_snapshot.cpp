// SPDX-License-Identifier: Apache-2.0
#include "runtime/reset/memory_snapshot.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/base/address_space.h"
#include "runtime/base/system.h"

namespace heddle::runtime {
namespace {

constexpr std::uint64_t kPage = 4096;
/// From here on it is cheaper to give pages back than to clear them, and memory use does not creep
/// up to the largest of all executions.
constexpr std::uint64_t kGiveBack = 1 << 20;
/// A written page that is left unprotected costs a copy (0.1 us) after each execution, a protected
/// one a fault (1 us) in each that writes to it: pages are protected again only now and then, or
/// when too many have come together that not every execution writes to.
constexpr std::uint32_t kProtectAgain = 1024;

// Not memcpy and memset: the program's libc is being restored around them, and they may be
// interposed.
void copy_words(std::uint64_t to, const char* from, std::uint64_t bytes) {
  std::uint64_t words = bytes / 8;
  asm volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
}

void clear(std::uint64_t begin, std::uint64_t end) {
  if (end - begin >= kGiveBack) {
    raw_syscall(SYS_madvise, static_cast<long>(begin), static_cast<long>(end - begin),
                MADV_DONTNEED);
    return;
  }
  std::uint64_t words = (end - begin) / 8;
  asm volatile("rep stosq" : "+D"(begin), "+c"(words) : "a"(0) : "memory");
}

bool is_keepers(const Mapping& mapping) {
  return mapping.begin >= kKeeperBase && mapping.end <= kKeeperBase + kKeeperBytes;
}

void unmap(std::uint64_t begin, std::uint64_t end) {
  raw_syscall(SYS_munmap, static_cast<long>(begin), static_cast<long>(end - begin));
}

}  // namespace

void* KeptMemory::take(std::uint64_t bytes) {
  bytes = (bytes + 63) & ~std::uint64_t{63};
  if (bytes > end_ - next_) return nullptr;
  void* const memory = reinterpret_cast<void*>(next_);
  next_ += bytes;
  return memory;
}

bool MemorySnapshot::take(KeptMemory& memory, Workspace& workspace, ResetNotes& notes,
                          std::uint64_t stack, int first_descriptor) {
  if (!tracker_.open(first_descriptor)) return false;
  const long sizes = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/statm"),
                                 O_RDONLY | O_CLOEXEC);
  sizes_ = static_cast<int>(raw_syscall(SYS_dup3, sizes, first_descriptor + 2, O_CLOEXEC));
  raw_syscall(SYS_close, sizes);
  stack_ = stack;
  program_break_ = static_cast<std::uint64_t>(raw_syscall(SYS_brk, 0));

  const std::size_t count = read_mappings(workspace.mappings, Workspace::kMappings, workspace.text,
                                          sizeof workspace.text);
  mappings_ = static_cast<Mapping*>(memory.take(count * sizeof(Mapping)));
  run_capacity_ = Workspace::kRanges;
  runs_ = static_cast<Run*>(memory.take(run_capacity_ * sizeof(Run)));
  if (count == 0 || mappings_ == nullptr || runs_ == nullptr) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const Mapping& mapping = workspace.mappings[i];
    if (is_keepers(mapping)) continue;
    mappings_[mapping_count_++] = mapping;
    if (mapping.writable && !mapping.shared && !save_mapping(mapping, memory, workspace)) {
      return false;
    }
  }
  notes = {};
  return tracker_.protect_all(workspace.ranges, Workspace::kRanges) &&
         read_sizes(notes.mapped_pages, notes.writable_pages);
}

bool MemorySnapshot::save_mapping(const Mapping& mapping, KeptMemory& memory,
                                  Workspace& workspace) {
  if (!tracker_.track(mapping.begin, mapping.end)) return false;
  // A page of a file that nobody touched yet is not empty, it is what the file says.
  if (mapping.has_file) return save_run(mapping.begin, mapping.end, memory);
  for (std::uint64_t at = mapping.begin; at < mapping.end;) {
    const long found = tracker_.find_present(at, mapping.end, workspace.ranges, Workspace::kRanges);
    if (found < 0) return false;
    for (long i = 0; i < found; ++i) {
      if (!save_run(workspace.ranges[i].begin, workspace.ranges[i].end, memory)) return false;
    }
  }
  return true;
}

bool MemorySnapshot::save_run(std::uint64_t begin, std::uint64_t end, KeptMemory& memory) {
  void* const copy = memory.take(end - begin);
  if (copy == nullptr || run_count_ == run_capacity_) return false;
  copy_words(reinterpret_cast<std::uint64_t>(copy), reinterpret_cast<const char*>(begin),
             end - begin);
  runs_[run_count_++] = {begin, end, static_cast<const char*>(copy)};
  return true;
}

bool MemorySnapshot::covers(std::uint64_t begin, std::uint64_t end) const {
  for (std::size_t i = 0; i < run_count_; ++i) {
    if (runs_[i].begin < end && begin < runs_[i].end) return true;
  }
  return false;
}

bool MemorySnapshot::overlaps_mapping(std::uint64_t begin, std::uint64_t end) const {
  for (std::size_t i = 0; i < mapping_count_; ++i) {
    if (mappings_[i].begin < end && begin < mappings_[i].end) return true;
  }
  return false;
}

bool MemorySnapshot::shares_memory() const {
  for (std::size_t i = 0; i < mapping_count_; ++i) {
    const Mapping& mapping = mappings_[i];
    if (mapping.shared && mapping.writable && mapping.begin != kChannelBase) return true;
  }
  return false;
}

abi::ResetObstacle MemorySnapshot::restore(const Changes& changes, Workspace& workspace,
                                           ResetNotes& notes) const {
  std::uint64_t mapped = 0;
  std::uint64_t writable = 0;
  if (!read_sizes(mapped, writable)) return abi::ResetObstacle::Descriptors;
  // Calls of libc's own are not seen going by; they show in the sizes.
  if (changes.mappings || mapped != notes.mapped_pages || writable != notes.writable_pages) {
    ++notes.remapped;
    if (!restore_mappings(workspace)) return abi::ResetObstacle::Mappings;
    read_sizes(notes.mapped_pages, notes.writable_pages);
  }
  if (changes.dropped_pages) {
    for (std::size_t i = 0; i < run_count_; ++i) restore_range(runs_[i].begin, runs_[i].end, runs_);
  }
  return restore_written(workspace, notes) ? abi::ResetObstacle::None
                                           : abi::ResetObstacle::Descriptors;
}

bool MemorySnapshot::restore_written(Workspace& workspace, ResetNotes& notes) const {
  std::uint64_t pages = 0;
  const Run* run = runs_;
  for (std::uint64_t at = 0; at < kMemoryEnd;) {
    const long found = tracker_.find_written(at, kMemoryEnd, workspace.ranges, Workspace::kRanges);
    if (found < 0) return false;
    for (long i = 0; i < found; ++i) {
      const PageRange& range = workspace.ranges[i];
      pages += (range.end - range.begin) / kPage;
      run = restore_range(range.begin, range.end, run);
    }
  }
  if (notes.usual_pages == 0) notes.usual_pages = pages;
  if (++notes.since_protected < kProtectAgain && pages < 2 * notes.usual_pages + 64) return true;
  notes.since_protected = 0;
  notes.usual_pages = 0;
  return tracker_.protect_all(workspace.ranges, Workspace::kRanges);
}

/// Returns the run to go on with: ranges come in ascending order.
const MemorySnapshot::Run* MemorySnapshot::restore_range(std::uint64_t begin, std::uint64_t end,
                                                         const Run* run) const {
  const Run* const last = runs_ + run_count_;
  while (begin < end) {
    while (run != last && run->end <= begin) ++run;
    if (run == last || run->begin >= end) {
      clear(begin, end);
      return run;
    }
    if (run->begin > begin) clear(begin, run->begin);
    const std::uint64_t from = run->begin > begin ? run->begin : begin;
    const std::uint64_t to = run->end < end ? run->end : end;
    copy_words(from, run->copy + (from - run->begin), to - from);
    begin = to;
  }
  return run;
}

/// Removes what was mapped since; false if something that was there is not there any more.
bool MemorySnapshot::restore_mappings(Workspace& workspace) const {
  raw_syscall(SYS_brk, static_cast<long>(program_break_));
  const Mapping* const now = workspace.mappings;
  const std::size_t count = read_mappings(workspace.mappings, Workspace::kMappings, workspace.text,
                                          sizeof workspace.text);
  if (count == 0) return false;
  for (std::size_t i = 0; i < mapping_count_; ++i) {
    if (!is_intact(mappings_[i], now, count)) return false;
  }
  const Mapping* saved = mappings_;
  const Mapping* const last = mappings_ + mapping_count_;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_keepers(now[i])) continue;
    for (std::uint64_t at = now[i].begin; at < now[i].end; at = saved->end) {
      while (saved != last && saved->end <= at) ++saved;
      if (saved == last || saved->begin >= now[i].end) {
        unmap(at, now[i].end);
        break;
      }
      // The first stack grows and never shrinks: it stays as large as it got.
      const bool is_stack = saved->begin <= stack_ && stack_ < saved->end;
      if (at < saved->begin && !is_stack) unmap(at, saved->begin);
    }
  }
  return true;
}

bool MemorySnapshot::is_intact(const Mapping& saved, const Mapping* now, std::size_t count) const {
  std::uint64_t at = saved.begin;
  for (std::size_t i = 0; i < count && at < saved.end; ++i) {
    if (now[i].end <= at) continue;
    if (now[i].begin > at || !now[i].same_kind(saved)) return false;
    at = now[i].end;
  }
  if (at < saved.end) return false;
  return !saved.writable || saved.shared || tracker_.is_tracked(saved.begin, saved.end);
}

bool MemorySnapshot::read_sizes(std::uint64_t& mapped, std::uint64_t& writable) const {
  char text[256];
  const long got = raw_syscall(SYS_pread64, sizes_, reinterpret_cast<long>(text), sizeof text, 0);
  if (got <= 0) return false;
  std::uint64_t fields[7] = {};
  unsigned field = 0;
  for (long i = 0; i < got && field < 7; ++i) {
    if (text[i] >= '0' && text[i] <= '9') {
      fields[field] = fields[field] * 10 + static_cast<std::uint64_t>(text[i] - '0');
    } else {
      ++field;
    }
  }
  mapped = fields[0];
  writable = fields[5];
  return true;
}

}  // namespace heddle::runtime
