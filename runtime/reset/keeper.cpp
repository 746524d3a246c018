// SPDX-License-Identifier: Apache-2.0
#include "runtime/reset/keeper.h"

#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <initializer_list>

#include "runtime/base/address_space.h"
#include "runtime/base/system.h"
#include "runtime/base/text.h"
#include "runtime/carrier/carrier.h"
#include "runtime/reset/kernel_state.h"
#include "runtime/reset/memory_snapshot.h"
#include "runtime/session/channel_state.h"

/// Saves the caller's registers as heddle_fiber_switch does, then calls `entry` on another stack.
extern "C" void heddle_call_on_stack(void** save_sp, void* stack_top, void (*entry)());
extern "C" void heddle_fiber_switch(void** save_sp, void* next_sp, unsigned long next_fs);

namespace heddle::runtime {
namespace {

/// Read-only while the program runs.
struct Kept {
  abi::ChannelHeader* channel;
  std::uint64_t stem;  // number of the stem behind which executions begin; 0: at the beginning
  std::uint64_t stem_events;
  long input_offset;  // of standard input there
  long process;
  void* stack_pointer;  // where the program goes on from
  unsigned long fs;
  MemorySnapshot memory;
  KernelState kernel;
};

constexpr std::uint64_t kStackBytes = 64 << 10;
constexpr int kFirstDescriptor = abi::kChannelDescriptor + 1;

/// The keeper's memory: notes and workspace first, then its stack, then what is kept.
struct Layout {
  ResetNotes notes;
  Workspace workspace;
  int status;  // of the execution that is ending
  alignas(4096) char stack[kStackBytes];
  alignas(4096) Kept kept;
};

constinit bool keeping = false;

// Of the process before the program began.
constinit std::uint64_t first_stack = 0;
constinit OpenFiles given_files;

Layout& layout() {
  return *reinterpret_cast<Layout*>(kKeeperBase);
}

void* stack_top() {
  return layout().stack + kStackBytes;
}

/// What follows Layout::stack becomes read-only, or writable again.
void protect_kept(int protection) {
  const std::uint64_t begin = reinterpret_cast<std::uint64_t>(&layout().kept);
  raw_syscall(SYS_mprotect, static_cast<long>(begin),
              static_cast<long>(kKeeperBase + kKeeperBytes - begin), protection);
}

[[noreturn]] void retire(abi::ResetObstacle obstacle) {
  // It may come from memory that the program has written over.
  if (obstacle > abi::ResetObstacle::Corruption) obstacle = abi::ResetObstacle::Corruption;
  layout().kept.channel->reset.obstacle = obstacle;
  exit_now(0);
}

[[noreturn]] void go_on() {
  void* ignored;
  heddle_fiber_switch(&ignored, layout().kept.stack_pointer, layout().kept.fs);
  __builtin_unreachable();
}

/// Waits until the driver wants another execution, and goes to where it begins.
[[noreturn]] void next_execution() {
  const Kept& kept = layout().kept;
  abi::ChannelHeader& channel = *kept.channel;
  // Only what this worker can do: anything else is left to the fork server, which sees that the
  // request is still there.
  if (!wait_for_request(channel) || !undoes_in_place(channel.options.carrier) ||
      same_text(channel.options.reset, "fork") || channel.stem.number != kept.stem) {
    exit_now(0);
  }
  ++channel.reset.served;
  channel.stem.had = kept.stem_events;
  if (kept.stem != 0) raw_syscall(SYS_lseek, 0, kept.input_offset, SEEK_SET);
  set_state_quietly(channel, abi::ChannelState::Running);
  go_on();
}

bool take_snapshot() {
  Kept& kept = layout().kept;
  const auto after = reinterpret_cast<std::uint64_t>(&kept + 1);
  KeptMemory memory(after, kKeeperBase + kKeeperBytes);
  changes() = {};
  return kept.memory.take(memory, layout().workspace, layout().notes, first_stack,
                          kFirstDescriptor) &&
         (kept.stem == 0 || !kept.memory.shares_memory()) &&
         kept.kernel.save(kFirstDescriptor + MemorySnapshot::kDescriptors);
}

void begin_keeping() {
  Kept& kept = layout().kept;
  keeping = true;
  if (take_snapshot()) {
    protect_kept(PROT_READ);
    if (kept.stem == 0) next_execution();
    go_on();
  }
  keeping = false;
  if (kept.stem != 0) go_on();
  kept.channel->reset.obstacle = abi::ResetObstacle::Kernel;
  kept.channel->reset.gave_up = 1;
  ++kept.channel->reset.served;
  set_state_quietly(*kept.channel, abi::ChannelState::Running);
  go_on();
}

/// What the driver has of it is emptied before each execution.
bool has_written() {
  for (const int stream : {1, 2}) {
    struct stat status{};
    if (raw_syscall(SYS_fstat, stream, reinterpret_cast<long>(&status)) == 0 &&
        S_ISREG(status.st_mode) && status.st_size != 0) {
      return true;
    }
  }
  return false;
}

/// Whether all that the execution has done so far is in memory. Where descriptors stand, what is in
/// pipes and the like could not be put back.
bool is_all_in_memory() {
  OpenFiles now;
  now.look();
  return changes().obstacle == abi::ResetObstacle::None && !changes().more_threads &&
         now == given_files && !has_written();
}

/// Runs on the keeper's stack. The changes are read before memory, and with it they, are undone.
void undo_execution() {
  KernelState::block_signals();
  const Kept& kept = layout().kept;
  const Changes what = changes();
  kept.channel->status = layout().status;
  set_state(*kept.channel, abi::ChannelState::Finished);
  if (what.more_threads) retire(abi::ResetObstacle::None);
  if (what.obstacle != abi::ResetObstacle::None) retire(what.obstacle);
  abi::ResetObstacle obstacle = kept.memory.restore(what, layout().workspace, layout().notes);
  kept.channel->reset.remapped = layout().notes.remapped;
  if (obstacle == abi::ResetObstacle::None) obstacle = kept.kernel.restore(what);
  if (obstacle != abi::ResetObstacle::None) retire(obstacle);
  next_execution();
}

}  // namespace

namespace {

void keep(abi::ChannelHeader& channel, const abi::Stem& stem) {
  // A write into a huge page would dirty 2 MB at once.
  raw_syscall(SYS_prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0);
  map_memory(kKeeperBytes, reinterpret_cast<void*>(kKeeperBase));
  reserve_policy_memory();
  Kept& kept = layout().kept;
  kept.channel = &channel;
  kept.stem = stem.number;
  kept.stem_events = stem.number != 0 ? stem.events : 0;
  kept.input_offset = raw_syscall(SYS_lseek, 0, 0, SEEK_CUR);
  kept.process = raw_syscall(SYS_getpid);
  kept.fs = reinterpret_cast<unsigned long>(__builtin_thread_pointer());
  channel.child = static_cast<std::int32_t>(kept.process);
  heddle_call_on_stack(&kept.stack_pointer, stack_top(), &begin_keeping);
}

}  // namespace

void keep_executing(abi::ChannelHeader& channel) {
  keep(channel, {});
}

bool keep_executing_from_here(abi::ChannelHeader& channel) {
  if (!is_all_in_memory()) return false;
  keep(channel, channel.stem);
  return keeping;
}

void remember_beginning() {
  first_stack = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  given_files.look();
}

bool is_kept() {
  // A child of the program's has all of this too, but not the right to report an end.
  return keeping && raw_syscall(SYS_getpid) == layout().kept.process;
}

void end_execution(int status) {
  if (!is_kept()) return;
  end_kept_execution(status);
}

void end_kept_execution(int status) {
  layout().status = status;
  void* ignored;
  heddle_call_on_stack(&ignored, stack_top(), &undo_execution);
  __builtin_unreachable();
}

bool has_room_for(std::uint64_t events) {
  if (!keeping) return false;
  ResetNotes& notes = layout().notes;
  if (events <= notes.events) return true;
  notes.events = events;
  return false;
}

void note_dropped_pages(std::uint64_t begin, std::uint64_t bytes) {
  if (keeping && layout().kept.memory.covers(begin, begin + bytes)) {
    changes().dropped_pages = true;
  }
}

void note_changed_mappings(std::uint64_t begin, std::uint64_t bytes) {
  changes().mappings = true;
  if (keeping && layout().kept.memory.overlaps_mapping(begin, begin + bytes)) {
    changes().obstacle = abi::ResetObstacle::Mappings;
  }
}

}  // namespace heddle::runtime
