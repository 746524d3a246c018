// SPDX-License-Identifier: Apache-2.0
//
// What a program that runs in parallel writes down: for each thread its operations, each with its
// place in the order of those that touched the same stripe of memory, and what the thread was told
// from outside. The driver makes the file (inherited at kRecordingDescriptor), the runtime maps it:
// whatever ends the program, the driver or both, what is complete stays readable.
//
// One RecordingHeader, the driver's text about the program, then chunks. Threads write to chunks of
// their own; counts are advanced after what they count is complete.
//
// The chunks are two segments, written in turn. A segment that begins with a checkpoint (an image
// of the program, runtime/checkpoint) needs nothing of what was recorded before; the one before it
// may then be overwritten by the one behind it.
#pragma once

#include <cstdint>

#include "abi/channel.h"

namespace heddle::abi {

inline constexpr int kRecordingDescriptor = kChannelDescriptor + 1;
inline constexpr char kRecordingMagic[8] = {'H', 'E', 'D', 'D', 'L', 'O', 'G', '\n'};
/// Two files that take checkpoints in turn; where one is replayed from, the first is that one.
inline constexpr int kCheckpointDescriptor = kRecordingDescriptor + 1;
inline constexpr unsigned kSegments = 2;
inline constexpr std::uint32_t kRecordingVersion = 2;

/// Why the program could not go on being recorded.
enum class RecordingEnd : std::uint32_t {
  None = 0,
  Bound = 1,     // the log has become as long as it may, and no checkpoint could be taken
  DiskFull = 2,  // there was no room for more of it
};

/// One of the two parts of the chunks.
struct RecordingSegment {
  std::uint64_t used;        // bytes of chunks that were given out
  std::uint32_t number;      // from 0: how many came before it
  std::uint32_t checkpoint;  // 1: it begins with one, in the file of its number modulo kSegments
  std::uint64_t printed[2];  // then: bytes that the program had written to its output and error
};

struct RecordingHeader {
  char magic[8];
  std::uint32_t version;
  RecordingEnd end;
  std::uint64_t text_bytes;  // behind this header: what is recorded, written by the driver
  std::uint64_t chunks;      // where the first chunk begins
  std::uint64_t capacity;    // bytes that chunks may take
  RecordingSegment segments[kSegments];  // each has half of the capacity
  std::uint32_t newest;                  // of the segments: the one that is written to
  std::uint32_t obstacle;  // CheckpointObstacle: why the last attempt at a checkpoint failed
  std::uint32_t threads;   // of the table that are complete
  std::int32_t process;    // the program's process id
  ThreadRecord table[kMaxThreads];
};

/// An operation, or (kind None) a further stripe of the operation before it.
struct RecordedStep {
  std::uint64_t sequence;  // how many touched the stripe before
  SiteId site;
  EventKind kind;
  std::uint16_t stripe;
};

inline constexpr std::uint32_t kStripes = 0xfff0;
// Stripes that are none of memory.
inline constexpr std::uint16_t kSyncStripe = 0xffff;  // all synchronisation is in one order
inline constexpr std::uint16_t kNoStripe = 0xfffe;  // the operation is ordered by its thread alone

/// What a thread asked, and was told. Those of one class are told again in the same order.
enum class AnswerKind : std::uint16_t {
  Clock = 1,   // `result`: the time, in nanoseconds as the virtual clock counts
  Random = 2,  // the bytes
  Call = 3,    // a system call: its result, and the bytes it left in the program's memory
  Source = 4,  // nothing was told: the program used something that is not recorded
};
inline constexpr unsigned kToldKinds = 3;

/// Stands before its `bytes` bytes, which are filled up to a multiple of eight. An answer may be
/// divided among chunks.
struct Answer {
  AnswerKind kind;
  std::uint16_t call;  // Call: the system call's number; Source: an UnrecordedSource
  std::uint32_t bytes;
  std::int64_t result;
};

constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + 7) & ~std::uint64_t{7};
}

/// What an opened file was: the bytes of a Call of SYS_openat that succeeded, before its name.
struct OpenedFile {
  std::uint32_t flags;  // as given to open
  std::uint32_t mode;   // as stat says
  std::int64_t size;
  std::int64_t changed;  // nanoseconds
};

enum class UnrecordedSource : std::uint16_t {
  ChildProcess = 1,
  StreamOfOther = 2,   // stdio on what is no plain file
  ControlMessage = 3,  // descriptors or credentials that came with a message
  SharedMemory = 4,    // of other processes
  DeviceControl = 5,   // ioctl
  DirectTransfer = 6,  // sendfile, splice and their kin
};

/// Why there is no checkpoint.
enum class CheckpointObstacle : std::uint32_t {
  None = 0,
  Restless = 1,     // a thread did not come to a point where it can be left
  Descriptors = 2,  // one that cannot be made again: both ends of a socket pair, a full pipe
  Memory = 3,       // what is mapped cannot be told, or is too much
  Disk = 4,         // no room
};

inline constexpr std::uint32_t kStepsOfChunk = 4095;

enum class ChunkHolds : std::uint16_t { Steps = 1, Answers = 2 };

struct RecordingChunk {
  std::uint32_t count;  // steps, or bytes of answers, that are complete
  ThreadIndex thread;
  ChunkHolds holds;
  std::uint64_t reserved;
  union {
    RecordedStep steps[kStepsOfChunk];
    char answers[kStepsOfChunk * sizeof(RecordedStep)];
  };
};
static_assert(sizeof(RecordingChunk) == 64 << 10);

/// Of a log with that capacity, what each segment has.
constexpr std::uint64_t segment_bytes(std::uint64_t capacity) {
  return capacity / kSegments / sizeof(RecordingChunk) * sizeof(RecordingChunk);
}

/// Memory is told apart in cache lines: no aligned access crosses one.
inline constexpr std::uint64_t kStripeBytes = 64;

/// Which stripe a line belongs to.
constexpr std::uint16_t stripe_of(std::uint64_t address) {
  const std::uint64_t line = address / kStripeBytes;
  return static_cast<std::uint16_t>((line * 0x9E3779B97F4A7C15ull >> 32) * kStripes >> 32);
}

}  // namespace heddle::abi
