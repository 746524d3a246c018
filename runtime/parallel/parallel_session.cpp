// SPDX-License-Identifier: Apache-2.0
#include "runtime/parallel/parallel_session.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/address_space.h"
#include "runtime/base/text.h"
#include "runtime/carrier/carriers.h"
#include "runtime/entry/gate.h"
#include "runtime/memory/raw_memory.h"
#include "runtime/memory/stack_owner.h"
#include "runtime/sync/descriptor.h"

namespace heddle::runtime {
namespace {

constinit ParallelSession the_session;

[[gnu::tls_model("initial-exec")]] constinit thread_local abi::ThreadIndex current_thread = 0;

/// How often what no thread of the program announces is looked for.
constexpr std::int64_t kLookAgain = 1'000'000;

/// Ordered by the memory it touches. load(), store() or settle() say which that is.
bool is_access(abi::EventKind kind) {
  switch (kind) {
    case abi::EventKind::Load:
    case abi::EventKind::Store:
    case abi::EventKind::AtomicLoad:
    case abi::EventKind::AtomicStore:
    case abi::EventKind::AtomicRmw:
    case abi::EventKind::AtomicCas:
    case abi::EventKind::RangeRead:
    case abi::EventKind::RangeWrite: return true;
    default: return false;
  }
}

bool waits_outside(abi::EventKind kind) {
  return kind == abi::EventKind::Descriptor || kind == abi::EventKind::ProcessWait ||
         kind == abi::EventKind::SignalWait;
}

/// Waiting for what a recording can answer in its place, or for other threads.
bool can_be_left(const Operation& operation) {
  const OutsideEvent* const event = outside_event_of(operation);
  return event == nullptr || event->happened == &descriptors_ready;
}

/// Waiting for a handler to run, not for a signal of some set (runtime/entry/process_wait.cpp).
bool waits_for_handler(const Operation& operation) {
  const OutsideEvent* const event = outside_event_of(operation);
  return event != nullptr && event->subject[0] == 0;
}

}  // namespace

bool records_in_parallel(const abi::ChannelHeader& channel) {
  return same_text(channel.options.carrier, "parallel");
}

Session& parallel_session() {
  return the_session;
}

void ParallelSession::begin_run(abi::ChannelHeader& channel) {
  recorder_ = Recorder(&channel);
  recorder_.begin_run();
  if (log_ == nullptr) map_log();
  log_->process = static_cast<std::int32_t>(raw_syscall(SYS_getpid));
  attempt_from_ = abi::segment_bytes(log_->capacity) / 4 * 3;
  pauses_ = same_text(channel.options.strategy, "pauses");
  threads_.resize(abi::kMaxThreads);  // it never moves again: others read it at any time
  threads_.clear();
  stripes_ = static_cast<Stripe*>(own_memory(sizeof(Stripe) * abi::kStripes));
  objects_.begin_run(recorder_);
  clock().run_by_itself();
  add_thread(abi::kNoThread, 0, abi::kMainThreadHash);
  add_runner(0);
  running_ = true;
}

abi::ThreadIndex ParallelSession::current_index() const {
  return following_ ? Session::current_index() : current_thread;
}

void ParallelSession::add_runner(abi::ThreadIndex index) {
  runners_[index] = static_cast<Runner*>(own_memory(sizeof(Runner)));
  *runners_[index] = {};
  runners_[index]->index = index;
  runners_[index]->draws = recorder_.channel().options.seed * abi::kMaxThreads + index;
  births_[index] = recorder_.thread_record(index);
  log_->table[index] = births_[index];
  __atomic_store_n(&log_->threads, index + 1u, __ATOMIC_RELEASE);
  ++live_;
}

// --- the log

/// The file stays mapped; the program never sees its descriptor.
void ParallelSession::map_log() {
  struct stat status{};
  raw_syscall(SYS_fstat, abi::kRecordingDescriptor, reinterpret_cast<long>(&status));
  const long mapped = raw_syscall(SYS_mmap, kLogBase, status.st_size, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_FIXED_NOREPLACE, abi::kRecordingDescriptor, 0);
  if (mapped < 0 && mapped > -4096) unsupported("recording without a log to record to");
  raw_syscall(SYS_close, abi::kRecordingDescriptor);
  log_ = reinterpret_cast<abi::RecordingHeader*>(mapped);
}

void ParallelSession::stop_recording(abi::RecordingEnd end) {
  about_to_fail();
  log_->end = end;
  stop(abi::FailureKind::NoProgress);
}

/// Whoever waits for the run knows that it goes on.
void ParallelSession::note_progress() {
  __atomic_fetch_add(&recorder_.channel().progress, 1, __ATOMIC_RELAXED);
}

abi::RecordingChunk* ParallelSession::next_chunk(abi::ChunkHolds holds) {
  note_progress();
  const std::uint64_t room = abi::segment_bytes(log_->capacity);
  chunks_.lock();
  abi::RecordingSegment* segment = &log_->segments[log_->newest];
  if (segment->used + sizeof(abi::RecordingChunk) > room) {
    // The other one is needed unless this one can do without.
    if (segment->number > 0 && segment->checkpoint == 0) {
      chunks_.unlock();
      stop_recording(abi::RecordingEnd::Bound);
    }
    begin_segment(false);
    segment = &log_->segments[log_->newest];
  }
  const std::uint64_t at = log_->newest * room + segment->used;
  segment->used += sizeof(abi::RecordingChunk);
  if (segment->used >= attempt_from_) __atomic_store_n(&wanted_, true, __ATOMIC_RELAXED);
  chunks_.unlock();
  const long address = reinterpret_cast<long>(log_) + static_cast<long>(log_->chunks + at);
  // Where the disk is full this says so; writing would end the program. Kernels before 5.14 do not
  // know it, and take the risk.
  if (raw_syscall(SYS_madvise, address, sizeof(abi::RecordingChunk), MADV_POPULATE_WRITE) ==
      -EFAULT) {
    stop_recording(abi::RecordingEnd::DiskFull);
  }
  auto* const chunk = reinterpret_cast<abi::RecordingChunk*>(address);
  chunk->thread = current_thread;
  chunk->holds = holds;
  __atomic_store_n(&chunk->count, 0, __ATOMIC_RELEASE);
  return chunk;
}

void ParallelSession::write_down(abi::EventKind kind, abi::SiteId site, std::uint16_t stripe,
                                 std::uint64_t sequence) {
  abi::RecordingChunk*& chunk = runners_[current_thread]->steps;
  if (chunk == nullptr || chunk->count == abi::kStepsOfChunk) {
    chunk = next_chunk(abi::ChunkHolds::Steps);
  }
  chunk->steps[chunk->count] = {sequence, site, kind, stripe};
  __atomic_store_n(&chunk->count, chunk->count + 1, __ATOMIC_RELEASE);
  runners_[current_thread]->amid = true;
}

void ParallelSession::append_answer(const void* bytes, std::uint64_t count) {
  abi::RecordingChunk*& chunk = runners_[current_thread]->answers;
  const char* from = static_cast<const char*>(bytes);
  while (count > 0) {
    if (chunk == nullptr || chunk->count == sizeof chunk->answers) {
      chunk = next_chunk(abi::ChunkHolds::Answers);
    }
    const std::uint64_t room = sizeof chunk->answers - chunk->count;
    const std::uint64_t here = count < room ? count : room;
    std::memcpy(chunk->answers + chunk->count, from, here);
    __atomic_store_n(&chunk->count, chunk->count + static_cast<std::uint32_t>(here),
                     __ATOMIC_RELEASE);
    from += here;
    count -= here;
  }
}

void ParallelSession::note_answer(const abi::Answer& answer, const iovec* parts, unsigned count) {
  if (following_) return;
  constexpr char kFill[8] = {};
  append_answer(&answer, sizeof answer);
  for (unsigned i = 0; i < count; ++i) append_answer(parts[i].iov_base, parts[i].iov_len);
  append_answer(kFill, abi::padded(answer.bytes) - answer.bytes);
}

/// The access is written down before it is made: it may be the program's last.
void ParallelSession::enter_stripes(std::uint64_t address, std::uint64_t bytes, bool has_own_step) {
  Runner& self = *runners_[current_thread];
  if (self.held.any()) return;
  self.held.lock(stripes_, address, bytes);
  const Operation& operation = threads_[current_thread].pending;
  abi::EventKind kind = has_own_step ? abi::EventKind::None : operation.kind;
  for (const std::uint16_t stripe : self.held) {
    write_down(kind, operation.site, stripe, stripes_[stripe].visits++);
    kind = abi::EventKind::None;
  }
}

// --- turns

void ParallelSession::take_turn() {
  if (Gate::keeps_turn()) return;
  turn_.lock();
  Gate::keep_turn(true);
}

/// An operation that was given up, and so not recorded, may have left its stripes behind.
void ParallelSession::release_turn() {
  runners_[current_thread]->held.unlock(stripes_);
  Gate::keep_turn(false);
  turn_.unlock();
}

void ParallelSession::leave() {
  if (following_) return Gate::keep_turn(false);
  release_turn();
}

void ParallelSession::arrive(const Operation& operation) {
  if (following_) return Session::arrive(operation);
  if (pauses_) maybe_pause();
  Operation& pending = threads_[current_thread].pending;
  if (is_access(operation.kind)) {
    if (Gate::keeps_turn()) release_turn();
    if (checkpoint_wanted() && stand_still(operation)) [[unlikely]]
      return;
    pending = operation;
    return;
  }
  if (operation.kind == abi::EventKind::HeapFree) {
    pending = operation;
    const HeapBlock block = find_heap_block(operation.address);
    enter_stripes(operation.address, block.start == 0 ? 1 : block.note->size, false);
    return;
  }
  if (operation.kind == abi::EventKind::Sleep) {
    if (Gate::keeps_turn()) release_turn();
    std::uint32_t& wake = runners_[current_thread]->wake;
    __atomic_store_n(&wake, 0, __ATOMIC_RELAXED);
    while (clock().now() < operation.deadline) {
      sleep_until_woken(operation.deadline - clock().now());
      if (checkpoint_wanted() && stand_still(operation)) return;
      __atomic_store_n(&wake, 0, __ATOMIC_RELAXED);
    }
  }
  take_turn();
  pending = operation;
  pending.thread = current_thread;
  if (const char* const why = why_unsupported(operation)) unsupported(why);
  // What is asked of the outside can be left while it is waited for only: elsewhere it is decided
  // already whether the outside is asked or the recording.
  if (checkpoint_wanted() && (!waits_outside(operation.kind) || is_ending()) && park()) {
    return begin_turn(operation);
  }
  if (operation.awaited != nullptr) {
    wait_with_limit(pending);
  } else if (operation.blocking != nullptr) {
    if (waits_outside(operation.kind)) {
      wait_outside(pending);
    } else {
      wait_until_ready(pending);
    }
  }
  if (following_) return begin_turn(operation);
  write_down(operation.kind, operation.site, abi::kSyncStripe, turns_++);
  note_progress();
  if (operation.kind == abi::EventKind::FutexWait) {
    enter_stripes(operation.address, sizeof(std::uint32_t), true);
  } else if (names_memory(operation) && in_heap(operation.address)) {
    enter_stripes(operation.address, 1, true);  // before or after it was given back
  }
}

/// A signal that interrupts a thread does so at a point that is not recorded. One that a thread
/// sends to itself, or to one that waits for it, has its place in the order.
const char* ParallelSession::why_unsupported(const Operation& operation) const {
  switch (operation.kind) {
    case abi::EventKind::ThreadCancel: return "pthread_cancel in a recorded run";
    case abi::EventKind::SignalWait:
      return waits_for_handler(operation) ? "waiting for signal handlers in a recorded run"
                                          : nullptr;
    case abi::EventKind::ThreadSignal: {
      const std::uint64_t target = operation.detail - 1;  // runtime/sync/signals.cpp
      if (target == current_index()) return nullptr;
      if (target < threads_.size() && threads_[target].pending.kind == abi::EventKind::SignalWait) {
        return nullptr;
      }
      return "pthread_kill to another thread that does not wait for signals, in a recorded run";
    }
    default: return nullptr;
  }
}

void ParallelSession::record(const Operation& operation, std::uint32_t size, std::uint64_t value,
                             std::uint64_t aux) {
  if (following_) return Session::record(operation, size, value, aux);
  runners_[current_thread]->amid = false;
  if (operation.kind != abi::EventKind::HeapFree && names_memory(operation) &&
      in_heap(operation.address)) {
    stop_if_freed(operation);
  }
  runners_[current_thread]->held.unlock(stripes_);
}

/// The stripes are held on to, so that nobody comes after the operation that ends the run.
void ParallelSession::stop_if_freed(const Operation& operation) {
  const HeapBlock block = find_heap_block(operation.address);
  if (block.start == 0 || block.note->freed == 0) return;
  about_to_fail();
  failure().site = operation.site;
  stop(abi::FailureKind::UseAfterFree);
}

// --- waiting. The turn is given up meanwhile.

void ParallelSession::sleep_until_woken(std::int64_t nanoseconds) {
  const timespec limit{nanoseconds / VirtualClock::kSecond, nanoseconds % VirtualClock::kSecond};
  Runner& self = *runners_[current_thread];
  note_stop(abi::ThreadStop::Arrived);
  raw_syscall(SYS_futex, reinterpret_cast<long>(&self.wake), FUTEX_WAIT_PRIVATE, 0,
              nanoseconds < 0 ? 0 : reinterpret_cast<long>(&limit));
  note_stop(abi::ThreadStop::None);
}

void ParallelSession::wait_until_ready(const Operation& operation) {
  Runner& self = *runners_[current_thread];
  while (!operation.blocking->ready(operation)) {
    if (!self.blocked) ++blocked_;
    self.blocked = true;
    __atomic_store_n(&self.wake, 0, __ATOMIC_RELAXED);
    stop_if_stuck();
    release_turn();
    while (__atomic_load_n(&self.wake, __ATOMIC_ACQUIRE) == 0) sleep_until_woken(-1);
    take_turn();
    if (checkpoint_wanted() && park()) return;
  }
  if (self.blocked) --blocked_;  // woken to stand still, and meanwhile it can go on
  self.blocked = false;
}

void ParallelSession::refresh_thread(abi::ThreadIndex index) {
  if (following_) return Session::refresh_thread(index);
  Runner& runner = *runners_[index];
  const Operation& pending = threads_[index].pending;
  if (runner.blocked) {
    if (!pending.blocking->ready(pending)) return;
    runner.blocked = false;
    --blocked_;
  } else if (!runner.limited) {
    return;
  }
  __atomic_store_n(&runner.wake, 1, __ATOMIC_RELEASE);
  raw_syscall(SYS_futex, reinterpret_cast<long>(&runner.wake), FUTEX_WAKE_PRIVATE, 1);
}

void ParallelSession::wait_with_limit(const Operation& operation) {
  Runner& self = *runners_[current_thread];
  while (!operation.awaited->ready(operation)) {
    const std::int64_t left = operation.deadline - clock().now();
    if (left <= 0) return;
    __atomic_store_n(&self.wake, 0, __ATOMIC_RELAXED);
    self.limited = true;
    release_turn();
    sleep_until_woken(left < kLookAgain ? left : kLookAgain);
    take_turn();
    self.limited = false;
    if (checkpoint_wanted() && (is_ending() || can_be_left(operation)) && park()) return;
  }
}

void ParallelSession::wait_outside(const Operation& operation) {
  const auto& event = *reinterpret_cast<const OutsideEvent*>(operation.detail);
  while (!operation.blocking->ready(operation)) {
    release_turn();
    note_stop(abi::ThreadStop::Arrived);
    raw_syscall(SYS_poll, reinterpret_cast<long>(event.descriptors), static_cast<long>(event.count),
                kLookAgain / 1'000'000);
    note_stop(abi::ThreadStop::None);
    take_turn();
    if (checkpoint_wanted() && (is_ending() || can_be_left(operation)) && park()) return;
  }
}

/// Before one operation in eight, for up to half a millisecond: about as long as a thread takes to
/// be created. Never in a turn, which others may need.
void ParallelSession::maybe_pause() {
  constexpr std::uint64_t kOneIn = 8;
  constexpr std::uint64_t kMostMicroseconds = 512;
  if (Gate::keeps_turn()) return;
  std::uint64_t& draws = runners_[current_thread]->draws;
  draws = draws * 6364136223846793005u + 1442695040888963407u;
  const std::uint64_t drawn = draws >> 33;
  if (drawn % kOneIn != 0) return;
  const timespec pause{0, static_cast<long>(drawn / kOneIn % kMostMicroseconds) * 1000};
  raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&pause), 0);
}

void ParallelSession::stop_if_stuck() {
  if (blocked_ == live_ && live_ != 0) report_stuck();
}

// --- memory

std::uint64_t ParallelSession::load(std::uint64_t address, unsigned bytes) {
  if (following_) return Session::load(address, bytes);
  enter_stripes(address, bytes, false);
  return read_memory(address, bytes);
}

void ParallelSession::store(const Operation& operation, unsigned bytes, std::uint64_t value,
                            bool release) {
  if (following_) return Session::store(operation, bytes, value, release);
  enter_stripes(operation.address, bytes, false);
  write_memory(operation.address, bytes, value);
}

void ParallelSession::settle(std::uint64_t address, std::uint64_t bytes) {
  if (following_) return Session::settle(address, bytes);
  enter_stripes(address, bytes, false);
}

void ParallelSession::announce_write(const Operation& operation, unsigned bytes) {
  if (following_) return Session::announce_write(operation, bytes);
  enter_stripes(operation.address, bytes, false);
  record(operation, bytes, 0, 0);
  runners_[current_thread]->amid = true;  // the program does it itself, now
}

// --- threads

Thread* ParallelSession::create_thread(const StackWish& stack, Carrier::Entry entry) {
  if (following_) return Session::create_thread(stack, entry);
  if (threads_.size() == abi::kMaxThreads || thread_slots().all_taken()) {
    unsupported("more than 1023 threads in one run");
  }
  const auto index = static_cast<abi::ThreadIndex>(threads_.size());
  // Not on a stack of the program's own: first_steps() knows its thread by where its stack is.
  const std::uint32_t ordinal = current().children + 1;
  const std::uint64_t hash = abi::path_hash(current().hash, ordinal);
  thread_slots().take(index, current_thread, ordinal, hash);
  const unsigned long handle = kernel_carrier().create(index, {.bytes = stack.bytes}, &first_steps);
  if (handle == 0) {
    thread_slots().give_back(index);
    return nullptr;
  }
  current().children = ordinal;
  add_thread(current_thread, ordinal, hash);
  Thread& thread = threads_[index];
  thread.handle = handle;
  thread.pending = {abi::EventKind::ThreadStart, abi::kThreadStartSite, 0, index};
  add_runner(index);
  entry_ = entry;
  set_free(index);
  return &thread;
}

/// The beginning of a new thread, beside its creator: it gets its turn when that has left.
void ParallelSession::first_steps() {
  current_thread = stack_owner(reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
  ParallelSession& run = the_session;
  run.take_turn();
  if (run.checkpoint_wanted() && run.park()) run.entry_();
  run.write_down(abi::EventKind::ThreadStart, abi::kThreadStartSite, abi::kSyncStripe,
                 run.turns_++);
  run.runners_[current_thread]->amid = false;
  run.entry_();
}

void ParallelSession::finish_thread() {
  if (following_) Session::finish_thread();
  Thread& thread = current();
  thread.finished = true;
  thread.pending = {abi::EventKind::None, abi::kThreadExitSite, 0, current_thread};
  --live_;
  note_stop(abi::ThreadStop::Arrived);
  refresh(thread.handle);
  stop_if_stuck();
  release_turn();
  for (;;) raw_syscall(SYS_pause);  // what it lent stays: others may still point into its stack
}

std::int64_t ParallelSession::look_at_clock() {
  if (following_) return Session::look_at_clock();
  const std::int64_t now = clock().look();
  note_answer({abi::AnswerKind::Clock, 0, 0, now}, nullptr, 0);
  return now;
}

}  // namespace heddle::runtime
