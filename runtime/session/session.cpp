// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/session.h"

#include "abi/names.h"
#include "runtime/base/remains.h"
#include "runtime/base/text.h"
#include "runtime/reset/keeper.h"
#include "runtime/session/debugger.h"
#include "runtime/session/failure_stacks.h"

namespace heddle::runtime {
namespace {

constinit Session controlled_session;

}  // namespace

constinit Session* session_in_use = &controlled_session;

void use_session(Session& other) {
  session_in_use = &other;
}

void Session::begin_run(abi::ChannelHeader& channel) {
  prepare_run(channel);
  add_thread(abi::kNoThread, 0, abi::kMainThreadHash);
  enabled_.insert(0);
  current_ = 0;
  running_ = true;
}

void Session::prepare_run(abi::ChannelHeader& channel) {
  recorder_ = Recorder(&channel);
  recorder_.begin_run();
  const abi::Options& options = channel.options;
  strategy_ = find_strategy(options.strategy);
  carrier_ = find_carrier(options.carrier);
  memory_ = find_memory_model(options.memory_model);
  delays_stores_ = memory_ != find_memory_model("sc");
  if (strategy_ == nullptr) unsupported("no strategy of that name: see HEDDLE_OPTIONS");
  if (carrier_ == nullptr) unsupported("no carrier of that name: see HEDDLE_OPTIONS");
  if (memory_ == nullptr) unsupported("no memory model of that name: see HEDDLE_OPTIONS");

  const auto* plan = reinterpret_cast<const abi::PlanRecord*>(
      reinterpret_cast<const char*>(&channel) + channel.plan.offset);
  std::size_t left_out = 0;
  while (left_out < channel.plan.count && (plan[left_out].kind == abi::DecisionKind::Absent ||
                                           plan[left_out].kind == abi::DecisionKind::Skip)) {
    ++left_out;
  }
  left_out_ = {plan, left_out};
  iterations_.clear();
  if (!is_sequentially_consistent()) flushed_.clear();
  const Plan advice{plan + left_out, channel.plan.count - left_out};
  only_at_sync_ = same_text(options.preempt_at, "sync");
  // What is pending is known here alone: of memory with delayed stores every access must be seen.
  overlooks_ = options.overlook != 0 && !delays_stores_;
  {
    const PolicyMemory memory;
    quiet_.begin_run(advice, abi::DecisionKind::Quiet);
    strategy_->begin_run(options, advice, &find_thread);
  }
  fair_turns_.begin_run(options.max_events);
  carrier_->begin_run();
  memory_->begin_run();
  objects_.begin_run(recorder_);
  debugger_begin(channel);
  told_.begin_run(channel);
}

abi::ThreadIndex Session::find_thread(std::uint64_t hash) {
  for (const Thread& thread : session().threads_) {
    if (thread.hash == hash) return thread.index;
  }
  return abi::kNoThread;
}

bool Session::is_absent(std::uint64_t hash) const {
  for (std::size_t i = 0; i < left_out_.count; ++i) {
    const abi::PlanRecord& record = left_out_.records[i];
    if (record.kind == abi::DecisionKind::Absent && record.target == hash) return true;
  }
  return false;
}

bool Session::next_child_is_absent() {
  return is_absent(abi::path_hash(current().hash, current().children + 1));
}

std::uint32_t Session::begin_iteration(abi::SiteId site) {
  const std::uint64_t hash = current().hash;
  iterations_.add(hash, site);
  const std::uint32_t iteration = iterations_.count(hash, site);
  for (std::size_t i = 0; i < left_out_.count; ++i) {
    const abi::PlanRecord& record = left_out_.records[i];
    if (record.kind == abi::DecisionKind::Skip && record.thread == hash && record.site == site &&
        record.occurrence <= iteration && iteration <= record.target) {
      return 0;
    }
  }
  return iteration;
}

void Session::add_thread(abi::ThreadIndex parent, std::uint32_t ordinal, std::uint64_t hash) {
  Thread thread;
  thread.hash = hash;
  thread.index = static_cast<abi::ThreadIndex>(threads_.size());
  threads_.push_back(thread);
  recorder_.add_thread({hash, ordinal, parent, 0});
}

Thread* Session::create_thread(const StackWish& stack, Carrier::Entry entry) {
  if (threads_.size() == abi::kMaxThreads || thread_slots().all_taken()) {
    unsupported("more than 1023 threads in one run");
  }
  const auto index = static_cast<abi::ThreadIndex>(threads_.size());
  const std::uint32_t ordinal = current().children + 1;
  const std::uint64_t hash = abi::path_hash(current().hash, ordinal);
  thread_slots().take(index, current_, ordinal, hash);
  // Whether the system is asked for a thread, or one is at hand, is not the program's to see.
  struct Order {
    const Session& session;
    abi::ThreadIndex index;
    const StackWish& stack;
    Carrier::Entry entry;
    unsigned long handle;
  };
  Order order{*this, index, stack, entry, 0};
  call_apart(
      [](void* ordered) {
        auto& order = *static_cast<Order*>(ordered);
        order.handle = order.session.carrier_->create(order.index, order.stack, order.entry);
      },
      &order);
  const unsigned long handle = order.handle;
  if (handle == 0) {
    thread_slots().give_back(index);
    return nullptr;
  }
  current().children = ordinal;
  add_thread(current_, ordinal, hash);
  Thread& thread = threads_[index];
  thread.handle = handle;
  __heddle_debug_threads[index] = handle;
  if (is_absent(thread.hash)) {
    thread.absent = thread.finished = true;  // whoever joins it need not wait
    return &thread;
  }
  thread.pending = {abi::EventKind::ThreadStart, abi::kThreadStartSite, 0, index};
  enabled_.insert(index);
  return &thread;
}

void Session::finish_thread() {
  complete_write();
  Thread& thread = current();
  thread.finished = true;
  thread.pending = {abi::EventKind::None, abi::kThreadExitSite, 0, current_};
  enabled_.erase(current_);
  refresh(thread.handle);
  go_on();
  __builtin_unreachable();
}

SchedulingPoint Session::point() const {
  return {current_, threads_[current_].hash, Session::pending_of(current_), enabled_, *this};
}

/// Locations are told apart in units of eight bytes.
Pending Session::pending_of(abi::ThreadIndex thread) const {
  const Operation& pending = threads_[thread].pending;
  return {pending.kind, pending.site, pending.address >> 3, abi::access_of(pending.kind)};
}

void Session::arrive(const Operation& operation) {
  complete_write();
  for (;;) {
    Operation& pending = threads_[current_].pending;
    pending.set(operation);
    pending.thread = current_;
    Session::refresh_thread(current_);
    go_on();
    if (!is_interrupted()) break;
    interruption_->handle(*this);
    complete_write();
  }
  begin_turn(operation);
}

void Session::begin_turn(const Operation& operation) {
  if (debugger_wants(recorder_.event_count())) [[unlikely]]
    look_for_debugger();
  at_turn_ = true;
  if (delays_stores_ && drains(operation.kind)) drain(current_);
}

/// The current thread has its turn, but not for what it waits for.
bool Session::is_interrupted() const {
  const Operation& pending = threads_[current_].pending;
  return interruption_ != nullptr && pending.blocking != nullptr &&
         !pending.blocking->ready(pending);
}

/// Whether nobody is to be preempted before `pending`. What is not recorded as a decision needs
/// none in a replay: there, too, the running thread goes on.
bool Session::is_quiet(const Operation& pending) const {
  if (quiet_.contains(pending.site)) return true;
  if (!only_at_sync_) return false;
  switch (pending.kind) {
    case abi::EventKind::Load:
    case abi::EventKind::Store:
    case abi::EventKind::RangeRead:
    case abi::EventKind::RangeWrite: return true;
    default: return false;
  }
}

void Session::go_on() {
  const abi::ThreadIndex from = current_;
  // A schedule is followed by another strategy than the one that found it: what it leaves on the
  // stack must not be found by the program.
  call_apart([](void* self) { static_cast<Session*>(self)->decide(); }, this);
  if (current_ == from) return;
  if (current_ == abi::kNoThread) {
    current_ = from;
    if (enabled_.count() == 0) report_stuck();
    stop(abi::FailureKind::Divergence);
  }
  carrier_->switch_to(from, current_);
  // Nor what distinguishes the carriers.
  forget_call<256>();
}

/// Who goes on becomes current: nobody if no one can, or if the plan cannot be followed.
void Session::decide() {
  if (enabled_.contains(current_) && is_quiet(threads_[current_].pending) &&
      !fair_turns_.apply(recorder_.event_count())) {
    return;
  }
  const abi::ThreadIndex from = current_;
  do {
    while (enabled_.count() == 0) {
      current_ = from;
      if (wake_somebody()) continue;
      current_ = abi::kNoThread;
      return;
    }
    current_ = choose_next();
    if (current_ == abi::kNoThread) return;
    if (threads_[current_].is_flusher()) flush_chosen();
  } while (threads_[current_].is_flusher());
}

/// A signal from outside may have come for anybody.
bool Session::refresh_interrupted() {
  for (const Thread& thread : threads_) {
    if (!thread.finished && !thread.is_flusher() && interruption_->due(thread.index)) {
      refresh_thread(thread.index);
    }
  }
  return any_can_go_on();
}

/// Whoever is held back goes first: something outside may take time, or depend on this program.
bool Session::wake_somebody() {
  if (interruption_ != nullptr && refresh_interrupted()) return true;
  if (held_back_ != nullptr && held_back_->release(*this)) return true;
  return outside_wait_ != nullptr && outside_wait_(*this);
}

abi::ThreadIndex Session::choose_next() {
  const std::uint64_t events = recorder_.event_count();
  if (fair_turns_.apply(events)) return fair_turns_.choose(enabled_, current_, events);
  const SchedulingPoint here = point();
  const abi::ThreadIndex chosen = [&] {
    const PolicyMemory memory;
    return strategy_->choose(here);
  }();
  if (chosen == abi::kNoThread) return chosen;
  if (enabled_.count() > 1) {
    // After a flush nobody is left who was not done: going elsewhere from there preempts nobody.
    const bool could_continue = enabled_.contains(current_) && !threads_[current_].is_flusher();
    recorder_.add_decision({.event = recorder_.event_count(),
                            .enabled = enabled_.first_word(),
                            .site = here.pending.site,
                            .pending = here.pending.kind,
                            .reserved = 0,
                            .chosen = chosen,
                            .bound = enabled_.count(),
                            .thread = current_,
                            .kind = abi::DecisionKind::Thread,
                            .could_continue = could_continue,
                            .reserved2 = {}});
  }
  return chosen;
}

std::uint32_t Session::choose_value(std::uint32_t bound) {
  struct Question {
    Session& session;
    std::uint32_t bound;
    std::uint32_t chosen;
  };
  Question question{*this, bound, 0};
  call_apart(
      [](void* asked) {
        auto& question = *static_cast<Question*>(asked);
        question.chosen = question.session.decide_value(question.bound);
      },
      &question);
  if (question.chosen == Strategy::kCannotFollow) stop(abi::FailureKind::Divergence);
  return question.chosen;
}

std::uint32_t Session::decide_value(std::uint32_t bound) {
  const SchedulingPoint here = point();
  std::uint32_t chosen = 0;
  if (debugger_answers(bound, chosen)) [[unlikely]] {
    stop_following();
  } else {
    const PolicyMemory memory;
    chosen = strategy_->choose_value(here, bound);
  }
  if (chosen == Strategy::kCannotFollow) return chosen;
  recorder_.add_decision({.event = recorder_.event_count(),
                          .enabled = 0,
                          .site = here.pending.site,
                          .pending = here.pending.kind,
                          .reserved = 0,
                          .chosen = chosen,
                          .bound = bound,
                          .thread = current_,
                          .kind = abi::DecisionKind::Value,
                          .could_continue = 1,
                          .reserved2 = {}});
  return chosen;
}

/// A recorded run was told real times: in its replay every thread is told the same again.
std::int64_t Session::look_at_clock() {
  const abi::Answer* const told =
      told_.take(current().hash, current().told, abi::AnswerKind::Clock);
  if (told == nullptr) return clock_.look();
  clock_.advance_to(told->result);
  return told->result;
}

void Session::refresh_thread(abi::ThreadIndex index) {
  const Operation& pending = threads_[index].pending;
  if (pending.blocking == nullptr || pending.blocking->ready(pending) ||
      (interruption_ != nullptr && interruption_->due(index))) {
    enabled_.insert(index);
  } else {
    enabled_.erase(index);
  }
}

void Session::refresh(std::uint64_t address) {
  for (const Thread& thread : threads_) {
    if (thread.pending.blocking != nullptr && thread.pending.address == address &&
        thread.index != current_index() && !thread.finished) {
      refresh_thread(thread.index);
    }
  }
}

void Session::record(const Operation& operation, std::uint32_t size, std::uint64_t value,
                     std::uint64_t aux) {
  at_turn_ = false;
  const bool has_place = abi::EventKind::ThreadDetach < operation.kind && operation.address != 0;
  const Place place = has_place ? objects_.place_of(operation.address) : Place{};
  const abi::EventRecord event{operation.kind, current_,     operation.site, place.object,
                               size,           place.offset, value,          aux};
  if (!recorder_.add_event(event)) {
    failure().site = operation.site;
    stop(abi::FailureKind::NoProgress);
  }
  if (audit_.active()) [[unlikely]]
    audit(operation.kind, operation.site, operation.address, size);
  if (operation.kind != abi::EventKind::HeapFree) {
    stop_if_freed(place, operation.address, operation.site);
  }
  ++threads_[current_].operations;
  if (recorder_.event_count() >= look_at_) [[unlikely]]
    look_at_ = held_back_->look(*this);
  if (tick_ != nullptr) [[unlikely]]
    tick_(*this);
}

void Session::stop_if_freed(const Place& place, std::uint64_t address, abi::SiteId site) {
  if (!place.freed) return;
  const HeapNote& note = *find_heap_block(address).note;
  abi::FailureRecord& record = failure();
  record.site = site;
  record.related_site = note.site;
  record.related_thread = note.count;
  record.object = place.object;
  record.offset = place.offset;
  stop(abi::FailureKind::UseAfterFree);
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
