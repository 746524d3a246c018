// SPDX-License-Identifier: Apache-2.0
//
// An execution whose threads really run in parallel, and which writes down the order in which they
// did what others can see (abi/recording.h). It controls nothing, and to the primitives of
// runtime/sync it is a session like the controlled one: a thread that arrives gets its turn when
// nothing holds its operation up. Turns exclude each other only where they have to:
//   - an access to memory holds the stripes of that memory, from before it until it is recorded;
//   - everything else (synchronisation, threads, waiting) holds the one turn that all of it shares,
//     until the thread goes back into the program: primitives keep what they know in common tables.
// The same operations as under control, in an order that was real: so it can be enforced there.
#pragma once

#include "abi/thread_stop.h"
#include "runtime/parallel/stripes.h"
#include "runtime/session/session.h"

namespace heddle::runtime {

class ParallelSession final : public Session {
 public:
  void begin_run(abi::ChannelHeader& channel) override;
  /// In a process that was restored from a checkpoint: what was recorded from there on is followed
  /// under control, as in any other session.
  [[noreturn]] void follow(abi::ChannelHeader& channel);
  bool one_at_a_time() const override { return following_ && running_; }
  abi::ThreadIndex current_index() const override;

  void arrive(const Operation& operation) override;
  void record(const Operation& operation, std::uint32_t size, std::uint64_t value,
              std::uint64_t aux) override;
  void refresh_thread(abi::ThreadIndex index) override;
  std::uint32_t choose_value(std::uint32_t bound) override {
    return following_ ? Session::choose_value(bound) : 0;
  }

  std::uint64_t load(std::uint64_t address, unsigned bytes) override;
  void store(const Operation& operation, unsigned bytes, std::uint64_t value, bool) override;
  void settle(std::uint64_t address, std::uint64_t bytes) override;
  void announce_write(const Operation& operation, unsigned bytes) override;
  void drain(abi::ThreadIndex) override {}
  bool is_sequentially_consistent() const override { return true; }
  bool has_pending() const override { return false; }
  void order_stores() override {}

  Thread* create_thread(const StackWish& stack, Carrier::Entry entry) override;
  [[noreturn]] void finish_thread() override;

  std::int64_t look_at_clock() override;
  bool notes_answers() const override { return !following_; }
  void note_answer(const abi::Answer& answer, const iovec* parts, unsigned count) override;
  /// What it was doing was written down before it was done.
  void record_interrupted() override {
    if (following_) Session::record_interrupted();
  }
  void about_to_fail() override;
  void about_to_exit() override;
  void leave() override;

 private:
  /// What a thread needs while it runs beside others.
  struct Runner {
    abi::ThreadIndex index;
    bool blocked;         // waits until another thread has done something
    bool limited;         // the same, but only so long
    bool amid;            // its last operation is written down, and not done yet
    std::uint32_t wake;   // futex: 1 when somebody has
    std::uint64_t draws;  // of its pauses
    abi::RecordingChunk* steps;
    abi::RecordingChunk* answers;
    HeldStripes held;
  };

  void map_log();
  void begin_segment(bool at_checkpoint);
  bool checkpoint_wanted() const { return __atomic_load_n(&wanted_, __ATOMIC_RELAXED); }
  bool stand_still(const Operation& operation);
  bool park();
  void wait_parked();
  void end_parking();
  void wake_all();
  void take_checkpoint();
  bool claim_end();
  bool is_ending() const { return __atomic_load_n(&ends_, __ATOMIC_ACQUIRE) != abi::kNoThread; }
  [[noreturn]] static void wait_for_end();
  void add_runner(abi::ThreadIndex index);
  void write_down(abi::EventKind kind, abi::SiteId site, std::uint16_t stripe,
                  std::uint64_t sequence);
  void note_progress();
  void note_stop(abi::ThreadStop stop) {
    log_->table[current_index()].reserved = static_cast<std::uint16_t>(stop);
  }
  abi::RecordingChunk* next_chunk(abi::ChunkHolds holds);
  [[noreturn]] void stop_recording(abi::RecordingEnd end);
  void append_answer(const void* bytes, std::uint64_t count);
  void enter_stripes(std::uint64_t address, std::uint64_t bytes, bool has_own_step);
  void take_turn();
  void release_turn();
  void wait_until_ready(const Operation& operation);
  void wait_with_limit(const Operation& operation);
  void wait_outside(const Operation& operation);
  void maybe_pause();
  void sleep_until_woken(std::int64_t nanoseconds);
  const char* why_unsupported(const Operation& operation) const;
  void stop_if_freed(const Operation& operation);
  void stop_if_stuck();
  static void first_steps();

  Runner* runners_[abi::kMaxThreads] = {};
  abi::RecordingHeader* log_ = nullptr;
  Stripe* stripes_ = nullptr;
  SpinLock turn_;
  std::uint64_t turns_ = 0;
  std::uint32_t live_ = 0;
  std::uint32_t blocked_ = 0;
  Carrier::Entry entry_ = nullptr;
  bool pauses_ = false;  // threads pause now and then

  // Checkpoints (parallel_checkpoint.cpp).
  SpinLock chunks_;                         // held to give out a chunk
  bool wanted_ = false;                     // threads are to stand still
  abi::ThreadIndex ends_ = abi::kNoThread;  // whoever ends the run: they stand still for ever
  std::uint32_t parked_ = 0;                // threads that do
  std::uint32_t attempts_ = 0;              // futex: at checkpoints
  std::uint64_t attempt_from_ = 0;          // bytes of the segment from which on to try (again)
  bool following_ = false;
  abi::ThreadIndex taker_ = 0;   // of the last checkpoint
  std::int64_t stopped_at_ = 0;  // what the clock showed then
  abi::ThreadRecord births_[abi::kMaxThreads] = {};
};

/// The driver asks for a recording, not for a controlled run.
bool records_in_parallel(const abi::ChannelHeader& channel);
Session& parallel_session();
/// ParallelSession::follow() of a restored process.
void go_on_recorded(abi::ChannelHeader& channel);

}  // namespace heddle::runtime
