// SPDX-License-Identifier: Apache-2.0
//
// The file that a checkpoint is in: an ImageHeader, the mappings, descriptors and watches it
// counts, then the contents of memory, each run of pages behind its ImageRun; a run without pages
// is the last. It holds what the program could write to, the runtime's own memory too, so that only
// the build of the runtime that wrote it goes on from it.
//
// Where the program's files are not (heddle pack), it takes a second file, the placement, for what
// else was in memory: a PlacementHeader, the files and pieces it counts, then the pages that are
// not what their file says, in runs as above. The restorer (runtime/restorer) needs both, and
// nothing else of the program.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>

namespace heddle::abi {

inline constexpr char kImageMagic[8] = {'H', 'E', 'D', 'D', 'I', 'M', 'G', '2'};
inline constexpr int kImageSignals = 64;
inline constexpr std::size_t kImagePathBytes = 512;
inline constexpr std::size_t kImageBuildIdBytes = 72;

/// A line of /proc/self/maps.
struct Mapping {
  std::uint64_t begin;
  std::uint64_t end;
  bool readable;
  bool writable;
  bool executable;
  bool shared;
  bool has_file;

  bool same_kind(const Mapping& other) const {
    return readable == other.readable && writable == other.writable &&
           executable == other.executable && shared == other.shared && has_file == other.has_file;
  }
};

/// As the kernel has it, not as libc shows it.
struct ImageDisposition {
  void* handler;
  unsigned long flags;
  void* restorer;
  std::uint64_t mask;
};

struct ImageHeader {
  char magic[8];
  char runtime[kImageBuildIdBytes];  // build id of the runtime library, hexadecimal
  std::uint64_t go_on;               // address of void(ChannelHeader&): goes on from here
  std::uint64_t thread_pointer;      // of the first thread, which calls that
  std::uint64_t program_break;
  std::uint32_t mappings;
  std::uint32_t descriptors;
  std::uint32_t watches;
  std::uint32_t file_mask;
  std::uint64_t blocked;  // signals of the thread that took it
  stack_t signal_stack;
  ImageDisposition dispositions[kImageSignals];
  char directory[kImagePathBytes];
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
  char path[kImagePathBytes];
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

inline constexpr char kPlacementMagic[8] = {'H', 'E', 'D', 'D', 'P', 'L', 'C', '1'};
inline constexpr std::uint32_t kNoPlacedFile = 0xffffffff;

struct PlacementHeader {
  char magic[8];
  std::uint32_t files;
  std::uint32_t pieces;
};

struct PlacedFile {
  char name[kImagePathBytes];  // as the program's loader knew it
  char path[kImagePathBytes];  // where it is; in a pack: its name there
};

/// Of memory that is a file's, or that nobody could write to: in ascending order.
struct PlacedPiece {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t offset;  // in the file
  std::uint32_t file;    // kNoPlacedFile: what the kernel had put there
  std::uint32_t reserved;
};

}  // namespace heddle::abi
