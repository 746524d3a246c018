// SPDX-License-Identifier: Apache-2.0
//
// The part of Session that ends a run: who may fail, and what is said of it.
#include "abi/names.h"
#include "runtime/base/text.h"
#include "runtime/reset/keeper.h"
#include "runtime/session/debugger.h"
#include "runtime/session/failure_stacks.h"
#include "runtime/session/session.h"

namespace heddle::runtime {

/// Of several threads that are about to fail, as they may be in a recorded run, the plan may say
/// which one ended it. The others stand still; who joins one of them waits.
void Session::about_to_fail() {
  Thread& thread = current();
  if (ends_with_ == 0 || thread.hash == ends_with_ || thread.failing) return;
  complete_write();
  thread.failing = true;
  ++failure().waiting_failures;
  pend(thread, {abi::EventKind::None, abi::kThreadExitSite, 0, current_});
  enabled_.erase(current_);
  go_on();
}

/// Nobody else can go on: the failures that waited come after all.
bool Session::wake_failing() {
  ends_with_ = 0;
  for (const Thread& thread : threads_) {
    if (thread.failing) enabled_.insert(thread.index);
  }
  return any_can_go_on();
}

void Session::record_interrupted() {
  if (!running_ || !at_turn_) return;
  at_turn_ = false;
  announced_.bytes = 0;
  const Operation& operation = current().pending;
  const Place place = operation.address != 0 ? objects_.place_of(operation.address) : Place{};
  recorder_.add_event(
      {operation.kind, current_, operation.site, place.object, 0, place.offset, 0, 0});
}

namespace {

/// About the program, that is: worth to know what its threads were doing.
bool is_finding(abi::FailureKind kind) {
  return kind != abi::FailureKind::Divergence && kind != abi::FailureKind::Unsupported &&
         kind != abi::FailureKind::Internal;
}

}  // namespace

void Session::stop(abi::FailureKind kind) {
  complete_write();
  abi::FailureRecord& record = failure();
  record.kind = kind;
  record.thread = current_index();
  record.plan_position = strategy_ == nullptr ? 0 : strategy_->plan_position();
  if (kind == abi::FailureKind::Divergence || kind == abi::FailureKind::DoubleFree) {
    record.site = current().pending.site;
  }
  if (is_finding(kind) && !threads_.empty()) record_stacks(*this);
  debugger_ending(abi::sentence_of(kind));
  // Started by hand there is no driver to read the record.
  if (recorder_.channel().magic != abi::kChannelMagic) {
    print_error("heddle: run stopped: ");
    print_error(sentence_of(kind));
    print_error(record.message[0] == 0 ? "" : ": ");
    print_error(record.message);
    if (kind == abi::FailureKind::NoProgress) print_error(": HEDDLE_OPTIONS=max_events=N moves it");
    print_error("\n");
  }
  end_execution(kStoppedStatus << 8);
  exit_now(kStoppedStatus);
}

void Session::unsupported(const char* what) {
  copy_text(failure().message, what);
  failure().site = threads_.empty() ? abi::kUnknownSite : current().pending.site;
  stop(abi::FailureKind::Unsupported);
}

/// Nobody can go on: says who waits for whom, and whether that is a cycle.
void Session::report_stuck() {
  abi::FailureRecord& record = failure();
  record.wait_count = 0;
  abi::ThreadIndex waits_for[abi::kMaxThreads];
  for (const Thread& thread : threads_) {
    waits_for[thread.index] = abi::kNoThread;
    if (thread.finished) continue;
    const Operation& pending = thread.pending;
    abi::SiteId taken_at = abi::kUnknownSite;
    const abi::ThreadIndex holder =
        pending.blocking == nullptr ? abi::kNoThread : pending.blocking->holder(pending, taken_at);
    if (reach_of(pending) == Reach::Unseen) {
      current_ = thread.index;
      unsupported(
          "waits for a condition variable, barrier or read-write lock that it shares with other "
          "processes: only mutexes and semaphores of that kind work under control");
    }
    if (reach_of(pending) == Reach::Recorded) {
      current_ = thread.index;
      record.site = pending.site;
      copy_text(record.message, "waits for something from outside that never came");
      stop(abi::FailureKind::Hang);
    }
    waits_for[thread.index] = holder < thread_count() ? holder : abi::kNoThread;
    if (record.wait_count == sizeof record.waits / sizeof record.waits[0]) continue;
    const bool has_place = pending.kind != abi::EventKind::ThreadJoin;
    const Place place = has_place ? objects_.place_of(pending.address) : Place{};
    record.waits[record.wait_count++] = {pending.kind, thread.index, holder,   0, pending.site,
                                         place.object, place.offset, taken_at, 0};
  }
  for (const Thread& thread : threads_) {
    abi::ThreadIndex at = thread.index;
    for (std::uint32_t steps = 0; at != abi::kNoThread && steps < thread_count(); ++steps) {
      at = waits_for[at];
      if (at == thread.index) {
        record.site = thread.pending.site;
        stop(abi::FailureKind::Deadlock);
      }
    }
  }
  record.site = current().pending.site;
  stop(abi::FailureKind::LostWakeup);
}

}  // namespace heddle::runtime
