// SPDX-License-Identifier: Apache-2.0
//
// The part of ParallelSession that takes checkpoints, and goes on from them. When one is wanted
// each thread stands still where it next arrives, or where it waits, with its registers on its
// stack; the last one to do so takes the checkpoint. There every thread is what a fiber is that has
// been switched away from, and the process that is restored goes on with all of them as fibers.
#include <linux/futex.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/carrier/lender.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/entry/gate.h"
#include "runtime/parallel/parallel_session.h"
#include "runtime/session/debugger.h"
#include "runtime/sync/descriptor.h"

/// Saves the caller's registers as heddle_fiber_switch does while `function` runs.
extern "C" void heddle_call_saved(void** save_sp, void (*function)(void*), void* argument);

namespace heddle::runtime {
namespace {

/// How long threads stand still for the sake of one that does not: it may wait, outside Heddle's
/// sight, for one of them.
constexpr std::int64_t kPatience = 100'000'000;

std::uint64_t size_of(int descriptor) {
  struct stat status{};
  raw_syscall(SYS_fstat, descriptor, reinterpret_cast<long>(&status));
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

/// Under `chunks_`, or where all threads stand still.
void ParallelSession::begin_segment(bool at_checkpoint) {
  const std::uint32_t next = (log_->newest + 1) % abi::kSegments;
  abi::RecordingSegment& segment = log_->segments[next];
  segment = {0,
             log_->segments[log_->newest].number + 1,
             at_checkpoint ? 1u : 0u,
             {size_of(STDOUT_FILENO), size_of(STDERR_FILENO)}};
  __atomic_store_n(&log_->newest, next, __ATOMIC_RELEASE);
  attempt_from_ = abi::segment_bytes(log_->capacity) / 4 * 3;
}

/// An access whose turn has come. True where it is followed from here on.
bool ParallelSession::stand_still(const Operation& operation) {
  take_turn();
  Operation& pending = threads_[current_index()].pending;
  pending = operation;
  pending.thread = current_index();
  if (park()) {
    begin_turn(operation);
    return true;
  }
  release_turn();
  return false;
}

/// At the thread's turn. True in a process that goes on from the checkpoint.
bool ParallelSession::park() {
  if (ends_ == current_index()) return false;  // what the program itself does about its failure
  if (__atomic_fetch_add(&parked_, 1, __ATOMIC_RELAXED) == 0) wake_all();
  heddle_call_saved(
      &lender_of(current_index()).stack_pointer,
      [](void* self) { static_cast<ParallelSession*>(self)->wait_parked(); }, this);
  return following_;
}

void ParallelSession::wake_all() {
  for (std::uint32_t i = 0; i < thread_count(); ++i) {
    Runner& runner = *runners_[i];
    __atomic_store_n(&runner.wake, 1, __ATOMIC_RELEASE);
    raw_syscall(SYS_futex, reinterpret_cast<long>(&runner.wake), FUTEX_WAKE_PRIVATE, 1);
  }
}

void ParallelSession::wait_parked() {
  if (is_ending()) {
    note_stop(abi::ThreadStop::Arrived);
    release_turn();
    wait_for_end();
  }
  if (parked_ == live_) {
    take_checkpoint();
    return end_parking();
  }
  const std::uint32_t attempt = attempts_;
  const std::int64_t deadline = clock().now() + kPatience;
  release_turn();
  for (;;) {
    const std::int64_t left = deadline - clock().now();
    if (__atomic_load_n(&attempts_, __ATOMIC_ACQUIRE) != attempt || left <= 0) break;
    const timespec limit{left / VirtualClock::kSecond, left % VirtualClock::kSecond};
    raw_syscall(SYS_futex, reinterpret_cast<long>(&attempts_), FUTEX_WAIT_PRIVATE, attempt,
                reinterpret_cast<long>(&limit));
  }
  if (is_ending()) {
    note_stop(abi::ThreadStop::Arrived);
    wait_for_end();
  }
  take_turn();
  if (attempts_ != attempt) return;
  log_->obstacle = static_cast<std::uint32_t>(abi::CheckpointObstacle::Restless);
  end_parking();
}

/// Everybody goes on. Should there be no checkpoint, another attempt is made a little later.
void ParallelSession::end_parking() {
  chunks_.lock();
  const std::uint64_t room = abi::segment_bytes(log_->capacity);
  const std::uint64_t used = log_->segments[log_->newest].used;
  if (used >= attempt_from_) attempt_from_ = used + room / 32;
  __atomic_store_n(&wanted_, false, __ATOMIC_RELAXED);
  chunks_.unlock();
  parked_ = 0;
  __atomic_store_n(&attempts_, attempts_ + 1, __ATOMIC_RELEASE);
  raw_syscall(SYS_futex, reinterpret_cast<long>(&attempts_), FUTEX_WAKE_PRIVATE, 0x7fffffff);
}

void ParallelSession::take_checkpoint() {
  note_progress();
  taker_ = current_index();
  stopped_at_ = clock().now();
  const std::uint32_t number = log_->segments[log_->newest].number + 1;
  const std::uint32_t file = number % abi::kSegments;
  // Whatever ends this process meanwhile: nothing begins where the image is being written over.
  const abi::CheckpointObstacle obstacle =
      write_checkpoint(abi::kCheckpointDescriptor + static_cast<int>(file),
                       log_->segments[file].checkpoint, {&go_on_recorded, threads_[0].handle});
  log_->obstacle = static_cast<std::uint32_t>(obstacle);
  if (obstacle != abi::CheckpointObstacle::None) return;
  for (std::uint32_t i = 0; i < thread_count(); ++i) {
    runners_[i]->steps = runners_[i]->answers = nullptr;
  }
  for (std::uint32_t i = 0; i < abi::kStripes; ++i) stripes_[i].visits = 0;
  turns_ = 0;
  begin_segment(true);
}

void ParallelSession::follow(abi::ChannelHeader& channel) {
  following_ = true;
  prepare_run(channel);
  clock().stand_still(stopped_at_);
  for (Thread& thread : threads_) {
    recorder_.add_thread(births_[thread.index]);
    __heddle_debug_threads[thread.index] = thread.handle;
    const OutsideEvent* const event = outside_event_of(thread.pending);
    if (!thread.finished && event != nullptr && any_is_outside(*this, *event)) {
      tell_instead(thread.pending);
    }
  }
  go_on_from(taker_);
}

void go_on_recorded(abi::ChannelHeader& channel) {
  static_cast<ParallelSession&>(parallel_session()).follow(channel);
}

}  // namespace heddle::runtime
