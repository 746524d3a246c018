// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/session.h"

#include "abi/names.h"
#include "runtime/base/remains.h"
#include "runtime/base/text.h"
#include "runtime/entry/gate.h"
#include "runtime/reset/keeper.h"
#include "runtime/session/debugger.h"
#include "runtime/session/failure_stacks.h"

namespace heddle::runtime {
namespace {

constinit Session controlled_session;

/// abi::access_of() as a table: it is asked at every operation.
struct Accesses {
  abi::Access of[256] = {};
  constexpr Accesses() {
    for (std::uint16_t i = 0; i < 256; ++i) of[i] = abi::access_of(static_cast<abi::EventKind>(i));
  }
};
constexpr Accesses kAccesses;
#define HEDDLE_EVENT(id, Name, text, access) static_assert(id < 256);
#include "abi/events.def"

/// Where executions can be undone at all.
bool can_have_stem(const abi::ChannelHeader& channel) {
  return channel.stem.number != 0 && channel.beginning == abi::Beginning::Program &&
         channel.reset.gave_up == 0 && undoes_in_place(channel.options.carrier) &&
         !same_text(channel.options.reset, "fork");
}

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

  iterations_.clear();
  lacks_threads_ = false;
  if (!is_sequentially_consistent()) flushed_.clear();
  const Plan advice = take_plan(channel);
  only_at_sync_ = same_text(options.preempt_at, "sync");
  {
    const PolicyMemory memory;
    quiet_.begin_run(advice, abi::DecisionKind::Quiet);
    begin_view(options, advice);
    strategy_->begin_run(options, advice, &find_thread);
    asks_when_alone_ = strategy_->counts_when_alone();
  }
  fair_turns_.begin_run(options.max_events);
  carrier_->begin_run();
  memory_->begin_run();
  objects_.begin_run(recorder_);
  debugger_begin(channel);
  told_.begin_run(channel);
  channel.stem.had = 0;
  if (can_have_stem(channel)) recorder_.stop_at(channel.stem.events, &branch_off);
}

Plan Session::take_plan(const abi::ChannelHeader& channel) {
  const auto* plan = reinterpret_cast<const abi::PlanRecord*>(
      reinterpret_cast<const char*>(&channel) + channel.plan.offset);
  std::size_t left_out = 0;
  ends_with_ = 0;
  for (; left_out < channel.plan.count; ++left_out) {
    const abi::PlanRecord& record = plan[left_out];
    if (record.kind == abi::DecisionKind::Ends) {
      ends_with_ = record.thread;
    } else if (record.kind != abi::DecisionKind::Absent && record.kind != abi::DecisionKind::Skip &&
               record.kind != abi::DecisionKind::Overlook) {
      break;
    }
  }
  left_out_ = {plan, left_out};
  return {plan + left_out, channel.plan.count - left_out};
}

void Session::branch_off() {
  Session& self = session();
  abi::ChannelHeader& channel = self.recorder_.channel();
  const Recorder::Position stem = self.recorder_.position();
  if (!keep_executing_from_here(channel)) return;
  self.recorder_.go_back_to(stem);
  const Plan advice = self.take_plan(channel);
  self.fair_turns_.begin_run(channel.options.max_events);
  Strategy* const strategy = find_strategy(channel.options.strategy);
  const PolicyMemory memory;
  if (strategy == self.strategy_) {
    strategy->go_on_by(channel.options, advice);
  } else {  // one that need not know of what was before
    strategy->begin_run(channel.options, advice, &find_thread);
    self.strategy_ = strategy;
    self.asks_when_alone_ = strategy->counts_when_alone();
  }
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
  const abi::PlanRecord* const skip = skip_of(hash, site, iteration);
  if (skip == nullptr) return iteration;
  current().children += skip->creates;  // whoever is created later keeps its name
  lacks_threads_ |= skip->creates != 0;
  return 0;
}

abi::GoesOn Session::goes_on(abi::SiteId site, bool may_leave) const {
  const std::uint64_t hash = threads_[current_].hash;
  const std::uint32_t iteration = iterations_.count(hash, site);
  const abi::PlanRecord* const skip = skip_of(hash, site, iteration + 1);
  if (skip == nullptr || skip->at_once == 0) return abi::GoesOn::NotKnown;
  if (skip->target == ~std::uint32_t{0}) return may_leave ? abi::GoesOn::No : abi::GoesOn::NotKnown;
  return skip->occurrence <= iteration ? abi::GoesOn::Yes : abi::GoesOn::NotKnown;
}

const abi::PlanRecord* Session::skip_of(std::uint64_t thread, abi::SiteId site,
                                        std::uint32_t iteration) const {
  for (std::size_t i = 0; i < left_out_.count; ++i) {
    const abi::PlanRecord& record = left_out_.records[i];
    if (record.kind == abi::DecisionKind::Skip && record.thread == thread && record.site == site &&
        record.occurrence <= iteration && iteration <= record.target) {
      return &record;
    }
  }
  return nullptr;
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
  pend(thread, {abi::EventKind::ThreadStart, abi::kThreadStartSite, 0, index});
  enabled_.insert(index);
  return &thread;
}

void Session::finish_thread() {
  complete_write();
  Thread& thread = current();
  thread.finished = true;
  pend(thread, {abi::EventKind::None, abi::kThreadExitSite, 0, current_});
  enabled_.erase(current_);
  refresh(thread.handle);
  go_on();
  __builtin_unreachable();
}

SchedulingPoint Session::point() const {
  return {current_, threads_[current_].hash, pending_of(current_), enabled_, *this};
}

void Session::pend(Thread& thread, const Operation& operation) {
  thread.pending.set(operation);
  thread.pending.thread = thread.index;
  [[clang::always_inline]] show_pending(thread.index, operation);
}

/// Locations are told apart in units of eight bytes.
void Session::show_pending(abi::ThreadIndex thread, const Operation& operation) {
  set_pending(thread, {operation.kind, operation.site, operation.address >> 3,
                       kAccesses.of[static_cast<std::uint16_t>(operation.kind)]});
}

void Session::arrive(const Operation& operation) {
  complete_write();
  for (;;) {
    [[clang::always_inline]] pend(threads_[current_], operation);
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

/// Nobody need be asked.
bool Session::just_goes_on() const {
  if (!enabled_.contains(current_) || fair_turns_.apply(recorder_.event_count())) return false;
  return (!asks_when_alone_ && enabled_.count() == 1) || is_quiet(threads_[current_].pending);
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
  Gate::note_switch();
  carrier_->switch_to(from, current_);
  // Nor what distinguishes the carriers.
  forget_call<256>();
}

/// Who goes on becomes current: nobody if no one can, or if the plan cannot be followed.
void Session::decide() {
  if (just_goes_on()) return;
  if (enabled_.count() == 0 || delays_stores_) return decide_anew();
  current_ = choose_next();
}

/// The same where nobody can go on yet, or where those chosen may be there to make stores visible.
void Session::decide_anew() {
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
  if (outside_wait_ != nullptr && outside_wait_(*this)) return true;
  return ends_with_ != 0 && wake_failing();
}

/// Inline like the other parts of a turn that every operation takes.
[[gnu::always_inline]] inline abi::ThreadIndex Session::choose_next() {
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
    const bool flushed = delays_stores_ && threads_[here.current].is_flusher();
    const bool could_continue = enabled_.contains(here.current) && !flushed;
    recorder_.add_decision({.event = events,
                            .enabled = enabled_.first_word(),
                            .site = here.pending.site,
                            .pending = here.pending.kind,
                            .reserved = 0,
                            .chosen = chosen,
                            .bound = enabled_.count(),
                            .thread = here.current,
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
  const Place place = names_memory(operation) ? objects_.place_of(operation.address) : Place{};
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
  if (recorder_.event_count() >= view_changes_at_) [[unlikely]]
    change_view();
  if (tick_ != nullptr) [[unlikely]]
    tick_(*this);
}

void Session::stop_freed(std::uint32_t object, std::uint64_t offset, std::uint64_t address,
                         abi::SiteId site) {
  about_to_fail();
  const HeapNote& note = *find_heap_block(address).note;
  abi::FailureRecord& record = failure();
  record.site = site;
  record.related_site = note.site;
  record.related_thread = note.count;
  record.object = object;
  record.offset = offset;
  stop(abi::FailureKind::UseAfterFree);
}

}  // namespace heddle::runtime
