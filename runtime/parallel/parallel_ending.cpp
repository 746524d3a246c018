// SPDX-License-Identifier: Apache-2.0
//
// The part of ParallelSession that ends a recording. The first thread to fail ends it. Under
// control each of the others would go on up to its next operation, and what it prints on the way is
// part of the run: so they do it here, too, before the process is gone. The log says of each
// whether it has arrived there.
#include "runtime/entry/gate.h"
#include "runtime/parallel/parallel_session.h"

namespace heddle::runtime {
namespace {

/// Threads that compute without end, or wait inside libc, do not come; others may be late.
constexpr std::int64_t kPatience = 100'000'000;
constexpr timespec kLookAgain{0, 50'000};

}  // namespace

void ParallelSession::about_to_fail() {
  if (following_) return Session::about_to_fail();
  if (!claim_end()) return;
  // Its stripes it holds on to: nobody is to come after the operation that ends the run.
  __atomic_store_n(&wanted_, true, __ATOMIC_RELAXED);
  if (Gate::keeps_turn()) {
    Gate::keep_turn(false);
    turn_.unlock();
  }
  wake_all();
  const std::int64_t deadline = clock().now() + kPatience;
  while (__atomic_load_n(&parked_, __ATOMIC_RELAXED) + 1 < live_ && clock().now() < deadline) {
    raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&kLookAgain), 0);
  }
}

void ParallelSession::about_to_exit() {
  if (!following_) claim_end();
}

/// False if this thread has done it before. Whoever comes after another one has said nothing of its
/// own failure yet, and does not come to that. What it holds it keeps: nobody comes after an
/// operation that is not done.
bool ParallelSession::claim_end() {
  abi::ThreadIndex first = abi::kNoThread;
  if (__atomic_compare_exchange_n(&ends_, &first, current_index(), false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    note_stop(abi::ThreadStop::Ends);
    return true;
  }
  if (first != current_index()) {
    note_stop(runners_[current_index()]->amid ? abi::ThreadStop::Amid : abi::ThreadStop::Arrived);
    __atomic_fetch_add(&parked_, 1, __ATOMIC_RELAXED);
    wait_for_end();
  }
  return false;
}

void ParallelSession::wait_for_end() {
  for (;;) raw_syscall(SYS_pause);
}

}  // namespace heddle::runtime
