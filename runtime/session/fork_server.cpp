// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/fork_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "runtime/base/address_space.h"
#include "runtime/base/processors.h"
#include "runtime/base/remains.h"
#include "runtime/base/system.h"
#include "runtime/base/text.h"
#include "runtime/carrier/carrier.h"
#include "runtime/carrier/lender.h"
#include "runtime/entry/gate.h"
#include "runtime/memory/heap.h"
#include "runtime/reset/keeper.h"
#include "runtime/session/channel_state.h"
#include "runtime/session/options.h"

namespace heddle::runtime {
namespace {

/// For a program started by hand: it runs under control, and what it recorded ends with it.
abi::ChannelHeader& private_channel() {
  abi::Options options{};
  read_options(options, std::getenv("HEDDLE_OPTIONS"));
  std::uint64_t bytes = sizeof(abi::ChannelHeader);
  const auto region = [&bytes](std::uint64_t record_bytes, std::uint64_t capacity) {
    const abi::Region result{bytes, capacity, 0};
    bytes += (record_bytes * capacity + 63) & ~63ull;
    return result;
  };
  const abi::Region events = region(sizeof(abi::EventRecord), options.max_events);
  const abi::Region decisions =
      region(sizeof(abi::DecisionRecord), 2 * options.max_events + abi::kMaxThreads);
  const abi::Region threads = region(sizeof(abi::ThreadRecord), abi::kMaxThreads);
  const abi::Region objects =
      region(sizeof(abi::ObjectRecord), options.max_events + abi::kMaxThreads);
  const abi::Region text = region(1, 1 << 20);
  constexpr std::uint64_t kStepsPerEvent = 8;  // as much room as a driver gives
  const abi::Region steps = region(sizeof(abi::StepRecord), kStepsPerEvent * options.max_events);
  auto& channel = *static_cast<abi::ChannelHeader*>(own_memory(bytes));
  channel.options = options;
  channel.events = events;
  channel.decisions = decisions;
  channel.threads = threads;
  channel.objects = objects;
  channel.text = text;
  channel.steps = steps;
  return channel;
}

}  // namespace

abi::ChannelHeader& open_channel(bool& has_driver) {
  struct stat status{};
  has_driver = false;
  if (fstat(abi::kChannelDescriptor, &status) != 0) return private_channel();
  void* const memory =
      mmap(reinterpret_cast<void*>(kChannelBase), static_cast<std::size_t>(status.st_size),
           PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, abi::kChannelDescriptor, 0);
  if (memory == MAP_FAILED) return private_channel();
  auto& channel = *static_cast<abi::ChannelHeader*>(memory);
  if (channel.magic != abi::kChannelMagic) return private_channel();
  if (channel.version != abi::kVersion) {
    print_error("heddle: the runtime library and the heddle command are of different versions\n");
    exit_now(125);
  }
  close(abi::kChannelDescriptor);  // the mapping stays; the program never sees the descriptor
  has_driver = true;
  return channel;
}

namespace {

void prepare_slot(Carrier* carrier, Slot slot, bool& more) {
  if (carrier != nullptr && carrier->prepare(slot)) more = true;
  heap_prepare(slot);
}

/// Threads the last execution had, the next will probably have too. One is made in any case: libc
/// does some things otherwise as long as a process never had a second thread. Everybody's heap is
/// prepared: a program may not have allocated anything yet. True if there are more than before.
bool prepare_threads(const abi::ChannelHeader& channel, bool executes_here) {
  heap_prepare(0);
  heap_prepare(kRuntimeArena);
  Gate::close();
  if (executes_here) {
    make_passing_thread();  // a lender would still be there
  } else {
    find_carrier("fiber")->prepare(1);
  }
  bool more = false;
  Carrier* const carrier = find_carrier(channel.options.carrier);
  prepare_slot(carrier, 1, more);
  const auto* const threads = reinterpret_cast<const abi::ThreadRecord*>(
      reinterpret_cast<const char*>(&channel) + channel.threads.offset);
  ThreadSlots slots;  // as they were
  for (std::uint64_t i = 1; i < channel.threads.count && i < abi::kMaxThreads; ++i) {
    const abi::ThreadRecord& thread = threads[i];
    if (thread.ordinal == abi::kFlusherOrdinal || thread.parent >= i) continue;
    const auto index = static_cast<abi::ThreadIndex>(i);
    prepare_slot(carrier, slots.take(index, thread.parent, thread.ordinal, thread.hash), more);
  }
  Gate::open();
  return more;
}

/// Decides how executions come about, from what became of the processes made for them so far.
class ResetPolicy {
 public:
  explicit ResetPolicy(abi::ResetState& state) : state_(state) {}

  bool in_place(const abi::Options& options) const {
    return state_.gave_up == 0 && undoes_in_place(options.carrier) &&
           !same_text(options.reset, "fork");
  }

  /// The next process will have threads at hand that the last one had to make.
  void note_more_threads() { in_vain_ = 0; }

  /// A process that was to serve many executions has ended.
  void note_end(bool ended_by_itself) {
    if (state_.served > 1) {
      in_vain_ = 0;
      return;
    }
    if (ended_by_itself) state_.obstacle = abi::ResetObstacle::Ending;
    // A snapshot costs more than a fork: it has to pay at least sometimes.
    if (++in_vain_ == kPatience) state_.gave_up = 1;
  }

 private:
  static constexpr int kPatience = 8;
  abi::ResetState& state_;
  int in_vain_ = 0;  // processes in a row that served one execution only
};

int wait_for_end(pid_t child) {
  int status = 0;
  while (raw_syscall(SYS_wait4, child, reinterpret_cast<long>(&status), 0, 0) != child) {
  }
  return status;
}

}  // namespace

void serve_executions(abi::ChannelHeader& channel) {
  if (channel.debug_stop != 0) {
    prepare_threads(channel, /*executes_here=*/true);
    forget_dead_stack();
    set_state_quietly(channel, abi::ChannelState::Running);
    return;
  }
  remember_given_processors();
  remember_beginning();
  set_state(channel, abi::ChannelState::Ready);
  ResetPolicy policy(channel.reset);
  while (wait_for_request(channel)) {
    if (prepare_threads(channel, /*executes_here=*/false)) policy.note_more_threads();
    // One with a stem is executed up to there first.
    const bool in_place = channel.beginning == abi::Beginning::Program &&
                          channel.stem.number == 0 && policy.in_place(channel.options);
    ++channel.reset.processes;
    forget_dead_stack();
    channel.reset.served = 0;
    channel.reset.remapped = 0;
    // Before there is anybody who could say that it is over.
    if (!in_place) {
      channel.reset.served = 1;
      set_state_quietly(channel, abi::ChannelState::Running);
    }
    // _Fork, not fork: no handlers of the program run, and libc leaves the lenders' memory alone.
    const pid_t child = _Fork();
    if (child == 0) {
      raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      if (in_place) keep_executing(channel);
      return;
    }
    if (!in_place) channel.child = child;
    const int status = wait_for_end(child);
    // A worker reports its executions itself, except the one in which it dies.
    const bool died = state_of(channel) == abi::ChannelState::Running;
    if (in_place) policy.note_end(died);
    if (died) {
      channel.status = status;
      set_state(channel, abi::ChannelState::Finished);
    }
  }
  exit_now(0);
}

}  // namespace heddle::runtime
