// SPDX-License-Identifier: Apache-2.0
//
// The file that a checkpoint is in: an ImageHeader, the mappings, descriptors and watches it
// counts, then the contents of memory, each run of pages behind its ImageRun; a run without pages
// is the last. Read by the same build of the runtime only: the file holds the runtime's own memory.
#pragma once

#include <signal.h>

#include <cstdint>

#include "runtime/reset/memory_map.h"

namespace heddle::runtime {

inline constexpr char kImageMagic[8] = {'H', 'E', 'D', 'D', 'I', 'M', 'G', '1'};
inline constexpr int kImageSignals = 64;
inline constexpr std::size_t kPathBytes = 512;

/// As the kernel has it, not as libc shows it.
struct ImageDisposition {
  void* handler;
  unsigned long flags;
  void* restorer;
  std::uint64_t mask;
};

struct ImageHeader {
  char magic[8];
  std::uint64_t program_break;
  std::uint32_t mappings;
  std::uint32_t descriptors;
  std::uint32_t watches;
  std::uint32_t file_mask;
  std::uint64_t blocked;  // signals of the thread that took it
  stack_t signal_stack;
  ImageDisposition dispositions[kImageSignals];
  char directory[kPathBytes];
};

enum class DescriptorKind : std::uint32_t {
  Stream,   // one of the three that every execution has: `subject` says which
  File,     // a plain one: `path`
  StandIn,  // something outside: the recording answers for it
  Epoll,
  Event,  // its count is `subject`
  Pipe,   // one end of an empty one, which `subject` tells from others
};

struct ImageDescriptor {
  DescriptorKind kind;
  std::int32_t number;
  std::int32_t status_flags;
  std::int32_t descriptor_flags;
  std::uint64_t subject;
  std::int64_t offset;  // in a file
  char path[kPathBytes];
};

/// What an epoll descriptor watches.
struct ImageWatch {
  std::int32_t epoll;
  std::int32_t watched;
  std::uint32_t events;
  std::uint32_t reserved;
  std::uint64_t data;
};

struct ImageRun {
  std::uint64_t begin;
  std::uint64_t end;
};

}  // namespace heddle::runtime
