// SPDX-License-Identifier: Apache-2.0
//
// The shared memory through which the driver tells a controlled program what to do and reads what
// it did. The driver creates it (a memfd inherited at kChannelDescriptor), the runtime maps it; the
// program's death at any point leaves everything already written readable.
//
// One ChannelHeader, then the regions whose offsets and capacities it names. Counts are advanced
// after the record is complete. Everything here is plain data of fixed size.
#pragma once

#include <cstdint>

#include "abi/abi.h"

namespace heddle::abi {

inline constexpr std::uint32_t kChannelMagic = 0x43444548;  // "HEDC"
/// Fixed, so that the program sees the same descriptor numbers in every run.
inline constexpr int kChannelDescriptor = 1000;

/// Who moves: the driver sets RunRequested or Quit, the target's fork server (or the worker it
/// made) everything else. The word is a futex.
enum class ChannelState : std::uint32_t {
  Starting = 0,
  Ready = 1,
  RunRequested = 2,
  Running = 3,
  Finished = 4,
  Quit = 5,
};

using ThreadIndex = std::uint16_t;
inline constexpr ThreadIndex kNoThread = 0xffff;
inline constexpr std::uint32_t kMaxThreads = 1024;

/// Identity of a thread that does not depend on who came first: t0 hashes to 1, the n-th child of a
/// thread to path_hash(parent, n), n from 1.
constexpr std::uint64_t path_hash(std::uint64_t parent, std::uint64_t ordinal) {
  std::uint64_t x = parent * 0x9E3779B97F4A7C15ull + ordinal;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}
inline constexpr std::uint64_t kMainThreadHash = 1;

/// A thread's flusher, which makes its pending stores visible under a store-buffer memory model, is
/// a thread to the strategy but to nobody else. It counts as this child of its owner; its path is
/// the owner's followed by '~'.
inline constexpr std::uint32_t kFlusherOrdinal = 0xffffffff;

struct ThreadRecord {
  std::uint64_t hash;
  std::uint32_t ordinal;  // this is the parent's ordinal-th child; 0 for the main thread,
                          // kFlusherOrdinal for the parent's flusher
  ThreadIndex parent;     // kNoThread for the main thread
  std::uint16_t reserved;
};

enum class ObjectKind : std::uint8_t {
  Static = 1,   // a loaded module's data; `base` is its load address, `name` an offset in the text
  Heap = 2,     // one allocation: thread, site, count
  Stack = 3,    // the stack of `thread`
  Unknown = 4,  // anything else: one object for all of it, offset is the address
};

struct ObjectRecord {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  SiteId site = 0;          // Heap: where it was allocated
  std::uint32_t count = 0;  // Heap: the thread's count-th allocation, from 1
  std::uint32_t name = 0;   // Static: offset of the module's path in the text region
  ThreadIndex thread = 0;   // Heap, Stack
  ObjectKind kind = ObjectKind::Unknown;
  std::uint8_t reserved = 0;
};

struct EventRecord {
  EventKind kind;
  ThreadIndex thread;
  SiteId site;
  std::uint32_t object;  // index of the object + 1; 0: none
  std::uint32_t size;
  std::uint64_t offset;
  std::uint64_t value;
  std::uint64_t aux;
};

/// Something only `thread` could notice, done after `event` events of the run had been recorded.
struct StepRecord {
  std::uint64_t event;
  std::uint64_t value;
  SiteId site;
  StepKind kind;
  ThreadIndex thread;
};

/// One point at which the strategy had a choice, taken before `thread`'s next event, which would be
/// at `site`. How often the thread had been there before follows from the events.
enum class DecisionKind : std::uint16_t {
  Thread = 1,  // which thread goes on: chosen is a thread index, enabled a mask of thread indices
  Value = 2,   // choose_value: chosen < bound
  // Plans only, before all others: what of the program is not executed, or last.
  Absent = 3,     // the thread `target` is never started
  Skip = 10,      // `thread` leaves out its iterations at `site` from `occurrence` to `target`;
                  // `creates`, `at_once`
  Overlook = 14,  // plain accesses at `site` are no events
  Ends = 13,      // other threads' failures wait until nobody else can go on: `thread` ends the run
  // Plans only, behind those and before the decisions: advice for strategies.
  Quiet = 4,        // no scheduling point at `site` as long as the running thread can go on, and no
                    // event if the option `overlook` is set; where `see_events` is set as well, no
                    // event only if `occurrence` says that there are many
  Weight = 5,       // `thread`, a child of `target`, did `occurrence` counted operations earlier
  Select = 6,       // operations at `site` are those that are counted
  ReadsFrom = 7,    // the read at `site` should see what the write at site `target` wrote
  ReadsEarly = 12,  // the read at `site` should come before any write at site `target`
  // Plans only, behind the decisions, always one after the other: `thread`'s `occurrence`-th
  // operation at `site` waits until that of the next record has been done. Earlier ones are
  // stronger.
  Hold = 8,
  Until = 9,
  // Plans of the order strategy: `thread` does its next `occurrence` operations; the first of them
  // is at `site`, unless that is kUnknownSite.
  Turn = 11,
};

struct DecisionRecord {
  std::uint64_t event;    // number of events recorded before this decision
  std::uint64_t enabled;  // Thread: bit i set: thread i could go on (threads from 64 on: no bit)
  SiteId site;
  EventKind pending;  // what `thread` was about to do
  std::uint16_t reserved;
  std::uint32_t chosen;
  std::uint32_t bound;  // Thread: number of enabled threads; Value: the exclusive bound
  ThreadIndex thread;   // the thread that ran last
  DecisionKind kind;
  std::uint8_t could_continue;  // Thread: choosing another thread than `thread` is a preemption
  std::uint8_t reserved2[3];
};

/// One instruction of a plan. For the replay strategy: "when `thread` comes to its `occurrence`-th
/// event at `site`, go on with `target`" (kind Thread) or "answer `target`" (kind Value). For the
/// prefix strategy only `kind` and `target` count: the n-th decision takes the n-th target. Absent
/// threads, skipped iterations and sites that are overlooked are the session's business: strategies
/// are given the records behind them.
struct PlanRecord {
  std::uint64_t thread;  // path hash
  std::uint64_t target;  // path hash, or the value
  SiteId site;
  std::uint32_t occurrence;
  DecisionKind kind;
  std::uint16_t creates = 0;  // Skip: the threads that each of the iterations would create
  std::uint16_t at_once = 0;  // Skip: 1 if within them it is not asked whether the loop goes on
  std::uint16_t reserved = 0;
};

/// What a thread is told from outside, again: `bytes` of Answers (abi/recording.h), in order.
struct AnswerStream {
  std::uint64_t thread;  // path hash
  std::uint64_t offset;  // in the region of answers
  std::uint64_t bytes;
};

/// The program opens `given` and gets `instead`: texts of the region of file names.
struct FileCopy {
  std::uint32_t given;
  std::uint32_t instead;
};

inline constexpr const char* kMemoryModels[] = {"sc", "tso", "pso"};

struct Options {
  using U64 = std::uint64_t;
  using Text = char[32];
#define HEDDLE_OPTION(Type, name, default_value, help) Type name = default_value;
#include "abi/options.def"
};

/// Why a thread cannot go on, for the report of a deadlock.
struct WaitRecord {
  EventKind kind;      // what it waits to do
  ThreadIndex thread;  // who waits
  ThreadIndex holder;  // who would have to act; kNoThread if nobody in particular
  std::uint16_t reserved;
  SiteId site;
  std::uint32_t object;  // as in EventRecord
  std::uint64_t offset;
  SiteId holder_site;  // where the holder took what is waited for; 0 if unknown
  std::uint32_t reserved2;
};

inline constexpr std::uint32_t kMessageBytes = 1024;

struct FailureRecord {
  FailureKind kind;
  ThreadIndex thread;
  std::int32_t signal;
  SiteId site;
  SiteId related_site;  // use-after-free, double-free: where it was freed
  std::uint32_t object;
  std::uint32_t related_thread;
  std::uint64_t offset;
  std::uint64_t plan_position;  // Divergence: index of the plan record that could not be followed
  // An assertion's own words; empty otherwise.
  char message[kMessageBytes];
  char file[512];
  char function[256];
  std::uint32_t line;
  std::uint32_t wait_count;
  WaitRecord waits[64];
  std::uint64_t waiting_failures;  // threads that stood still where they would have failed (Ends)
};

/// Where a thread stood when the run failed. Whoever reads this walks its stack: unwinding inside a
/// process that has just failed is neither safe nor needed.
struct StackRecord {
  enum Register : std::uint32_t { Rip, Rsp, Rbp, Rbx, R12, R13, R14, R15, Registers };
  std::uint64_t registers[Registers];
  std::uint64_t offset;  // of a copy of the memory from Rsp on, in the region of stack bytes
  std::uint32_t bytes;
  ThreadIndex thread;
  std::uint16_t reserved;
};

/// The driver gives up on an execution that does not come to its next event, and asks it first for
/// its stacks.
enum class Look : std::uint32_t { None = 0, Wanted = 1, Done = 2 };

struct Region {
  std::uint64_t offset;    // from the start of the channel
  std::uint64_t capacity;  // in records (bytes for text)
  std::uint64_t count;
};

/// How executions come about: each in a process of its own, or one after the other in a worker that
/// undoes each in place. Written by the target.
struct ResetState {
  ResetObstacle obstacle;   // why the last worker could not go on; None while one goes on
  std::uint32_t gave_up;    // 1: `obstacle` is there every time, executions are forked from now on
  std::uint64_t processes;  // processes made for executions so far
  std::uint64_t served;     // executions of the newest of them
  std::uint64_t remapped;   // of these, how many changed mappings: undoing that is what costs most
};

/// What executions have in common may be done once: they begin behind the first `events` of the one
/// that was the first to be asked for with this `number`, by what their own plans say from there
/// on.
struct Stem {
  std::uint64_t number;  // by the driver, another one for each stem; 0: none
  std::uint64_t events;  // by the driver
  std::uint64_t had;     // by the target: how many events this execution did not have to do again
};

/// What an execution does first.
enum class Beginning : std::uint32_t {
  Program,     // begins where the program does
  Checkpoint,  // begins at the image of kCheckpointDescriptor
  Kept,        // does not begin: an image of where it would is written there
};

struct ChannelHeader {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t bytes;

  std::uint32_t state;  // ChannelState
  std::int32_t child;   // process id of the running execution
  std::int32_t status;  // its wait status, valid in Finished
  // 0: executions are made as they are asked for. N: the process itself is the only execution, and
  // stops before event N - 1 for a debugger to look at it (runtime/session/debugger.h).
  std::uint32_t debug_stop;
  ResetState reset;
  Stem stem;

  Options options;  // written by the driver before RunRequested
  Region plan;      // PlanRecord, written by the driver

  Region events;             // EventRecord
  Region decisions;          // DecisionRecord
  Region threads;            // ThreadRecord
  Region objects;            // ObjectRecord
  Region text;               // bytes
  Region steps;              // StepRecord
  std::uint64_t steps_lost;  // for which there was no room

  Region path;              // bytes (abi/path_record.h)
  std::uint64_t path_from;  // written by the driver: before that many events nothing is put there
  std::uint32_t path_full;  // 1: there was no room for all of it
  std::uint32_t reserved;

  Region stacks;       // StackRecord; of a failed run only
  Region stack_bytes;  // bytes
  Region loaded;       // bytes: /proc/self/maps of a failed run
  std::uint32_t look;  // Look
  std::uint32_t is_told;

  FailureRecord failure;

  /// How often a parallel run has done something: it goes on.
  std::uint64_t progress;

  // Written by the driver, where the run was recorded in parallel and everything from outside is to
  // come from the recording: `is_told` is 1.
  Region answer_streams;
  Region answers;
  Region file_copies;
  Region file_names;
  std::int32_t told_process;  // the process id that the program is told
  Beginning beginning;

  // Texts, each ended by a zero. Written by the driver, in pairs (which `count` counts): a library
  // that the program opens by itself, and what it gets. Written by the target, over all executions:
  // paths of those it opened and that are in no pair (`count` in bytes).
  Region stand_ins;
  Region opened;
};

}  // namespace heddle::abi
