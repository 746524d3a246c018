// SPDX-License-Identifier: Apache-2.0
//
// One controlled execution: owns its threads and parts, and takes turns. Contains no policy (that
// is Strategy), no primitive (runtime/sync), no machinery of switching (Carrier).
//
// Protocol: whoever is about to do something visible to other threads calls arrive(), which returns
// when it is this thread's turn and nothing holds the operation up; it then does it, calls
// record(), and refresh() for what it may have set free or held up. Between two arrivals exactly
// one thread runs.
#pragma once

#include <cstdint>

#include "abi/channel.h"
#include "runtime/base/process_id.h"
#include "runtime/base/vector.h"
#include "runtime/carrier/carrier.h"
#include "runtime/environment/told_answers.h"
#include "runtime/memory/audit.h"
#include "runtime/memory/memory_model.h"
#include "runtime/memory/object_map.h"
#include "runtime/record/recorder.h"
#include "runtime/schedule/fair_turns.h"
#include "runtime/schedule/site_set.h"
#include "runtime/schedule/strategy.h"
#include "runtime/schedule/visit_counter.h"
#include "runtime/session/operation.h"
#include "runtime/session/virtual_clock.h"

namespace heddle::runtime {

class Session;

/// Threads that nothing holds up but that are to let others go first (runtime/sync/breakpoint.cpp).
struct HeldBack {
  /// Refreshes them; returns the number of events from which on to be asked again.
  std::uint64_t (*look)(Session& session);
  /// Asked when nobody can go on: lets one of them go on, or returns false.
  bool (*release)(Session& session);
};

/// What may come for a thread that is held up, and is not what it waits for: a signal.
struct Interruption {
  bool (*due)(abi::ThreadIndex thread);
  /// At the current thread's turn, which goes on waiting afterwards. The gate is closed.
  void (*handle)(Session& session);
};

struct Thread {
  std::uint64_t hash = 0;
  std::uint64_t operations = 0;  // it has recorded
  std::uint32_t children = 0;
  abi::ThreadIndex index = 0;
  bool finished = false;
  bool exited = false;  // the main thread, which lives on until the others are over, has left
  bool joined = false;
  bool detached = false;
  bool failing = false;      // stands still where it would fail, because the run ends otherwise
  bool absent = false;       // created as far as its creator can tell, but never started
  unsigned long handle = 0;  // pthread_t
  Operation pending;
  void* (*routine)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
  void* exit_target = nullptr;  // where pthread_exit unwinds to (runtime/sync/thread.cpp)
  ToldCursor told;              // where the thread is in what it is told
  abi::ThreadIndex flusher = abi::kNoThread;      // makes its pending stores visible
  abi::ThreadIndex flushes_for = abi::kNoThread;  // this is the flusher of that thread
  bool is_flusher() const { return flushes_for != abi::kNoThread; }
};

class Session : private ThreadView {
 public:
  /// Starts an execution; the caller becomes its main thread.
  virtual void begin_run(abi::ChannelHeader& channel);
  /// The program forked: what runs here from now on is not controlled, and its plain accesses need
  /// not come here any more.
  void abandon();
  bool running() const { return running_; }
  /// Whether at most one thread of the program runs at a time.
  virtual bool one_at_a_time() const { return running_; }

  Thread& current() { return threads_[current_index()]; }
  virtual abi::ThreadIndex current_index() const { return current_; }
  Thread& thread(abi::ThreadIndex index) { return threads_[index]; }
  std::uint32_t thread_count() const { return static_cast<std::uint32_t>(threads_.size()); }

  /// Waits for this thread's turn to do `operation` (whose `thread` is filled in here).
  virtual void arrive(const Operation& operation);
  /// Records what the current thread did at its turn. Stops the run when it may not go on.
  virtual void record(const Operation& operation, std::uint32_t size = 0, std::uint64_t value = 0,
                      std::uint64_t aux = 0);
  /// The current thread's turn to write; the program does it itself when it is back. Recorded, with
  /// what was written, before anything else happens.
  virtual void announce_write(const Operation& operation, unsigned bytes);
  /// What was announced has been written: called before whatever could hide it.
  void complete_write() {
    if (announced_.bytes != 0) [[unlikely]]
      record_announced();
  }
  /// Something about `address` changed: looks again who of those waiting for it can go on.
  virtual void refresh(std::uint64_t address);
  virtual void refresh_thread(abi::ThreadIndex index);
  /// Stops before the current thread's operation if a debugger wants it.
  void look_for_debugger();
  void stop_following();
  /// Closes the shutters (pass/shutters.h) of what the run need not see: `bytes` holds one for each
  /// of `count` sites, from `first` on.
  void close_shutters(std::uint8_t* bytes, std::uint64_t count, abi::SiteId first);
  /// What is loaded from now on may be unloaded again.
  void main_begins() { main_has_begun_ = true; }
  /// A choice of data, at the current thread's turn.
  virtual std::uint32_t choose_value(std::uint32_t bound);

  // Memory, at the current thread's turn. arrive() has drained where drains() says so.
  virtual std::uint64_t load(std::uint64_t address, unsigned bytes);
  virtual void store(const Operation& operation, unsigned bytes, std::uint64_t value, bool release);
  /// Makes visible what must be before these bytes are accessed without load() or store().
  virtual void settle(std::uint64_t address, std::uint64_t bytes);
  /// Makes all pending stores of the thread visible.
  virtual void drain(abi::ThreadIndex thread);
  virtual bool is_sequentially_consistent() const;
  virtual bool has_pending() const { return memory_->pending(current_) != 0; }
  virtual void order_stores() { memory_->order_stores(current_); }

  /// What is asked when no thread can go on, before that is called a deadlock: waits for something
  /// outside the process (runtime/sync/outside.cpp) and refreshes who can go on then. Returns false
  /// when nobody waits for such.
  using OutsideWait = bool (*)(Session& session);
  void set_outside_wait(OutsideWait wait) { outside_wait_ = wait; }
  void set_interruption(const Interruption& interruption) { interruption_ = &interruption; }
  /// Somebody is held back from now on.
  void hold_back(const HeldBack& held_back) {
    held_back_ = &held_back;
    look_at_ = 0;
  }
  /// Called after every event from now on.
  using Tick = void (*)(Session& session);
  void set_tick(Tick tick) { tick_ = tick; }
  /// Half of the events that it may have are over.
  bool seems_endless() const { return fair_turns_.apply(recorder_.event_count()); }
  static constexpr std::uint64_t kNeverLook = ~std::uint64_t{0};
  bool can_go_on(abi::ThreadIndex index) const { return enabled_.contains(index); }
  bool any_can_go_on() const { return enabled_.count() > 0; }

  /// A new thread, ready to start; nullptr when the system refuses.
  virtual Thread* create_thread(const StackWish& stack, Carrier::Entry entry);
  /// Whether the thread that the current one creates next is never to run. Nothing is recorded of
  /// such a thread, nor of whoever creates or joins it.
  bool next_child_is_absent();
  /// Whether threads have no handle either, because the iteration that creates them was left out.
  bool lacks_threads() const { return lacks_threads_; }
  /// The number, from 1, of the iteration that the current thread begins at `site`; 0 if it is to
  /// be left out.
  std::uint32_t begin_iteration(abi::SiteId site);
  /// Whether the loop at `site`, of which the current thread has just had an iteration or left it
  /// out, goes on. `may_leave`: the program does not notice where it ended.
  abi::GoesOn goes_on(abi::SiteId site, bool may_leave) const;
  /// The current thread is over; never returns.
  [[noreturn]] virtual void finish_thread();

  ObjectMap& objects() { return objects_; }
  Audit& audit() { return audit_; }
  /// Ends the run: what is known of two accesses to the same memory cannot both be.
  [[noreturn]] void contradict(const Audit::Access& access, const Audit::Contradiction& found);
  Recorder& recorder() { return recorder_; }
  VirtualClock& clock() { return clock_; }
  /// The program looks at the clock.
  virtual std::int64_t look_at_clock();
  const Carrier& carrier() const { return *carrier_; }

  // What comes from outside the program (runtime/environment).
  const ToldAnswers& told() const { return told_; }
  /// The id of its process, as the program is told.
  pid_t process_id() const {
    if (!one_at_a_time()) return real_process_id();
    return told_.process() != 0 ? told_.process() : kProcessId;
  }
  /// Whether answers from outside are to be written down, by note_answer().
  virtual bool notes_answers() const { return false; }
  virtual void note_answer(const abi::Answer&, const iovec*, unsigned) {}

  /// To be called before the current thread ends the run by a failure, and before `failure()` is
  /// filled in. Returns when it may do so.
  virtual void about_to_fail();
  /// The plan says that it ends with the failure of another thread than the current one.
  bool ends_with_another() const {
    return ends_with_ != 0 && ends_with_ != threads_[current_].hash;
  }
  /// The same for threads that end the program in another way.
  virtual void about_to_exit() {}
  /// Ends the run. `failure()` may be filled in before.
  [[noreturn]] void stop(abi::FailureKind kind);
  abi::FailureRecord& failure() { return recorder_.channel().failure; }
  /// Ends the run because the program needs something that is not there yet.
  [[noreturn]] void unsupported(const char* what);
  /// The program is crashing in the middle of its turn: what it was doing is recorded as it stands.
  virtual void record_interrupted();
  /// The current thread, which kept its turn beyond its operation, goes back into the program.
  virtual void leave() {}

 protected:
  /// Everything that an execution needs but its threads.
  void prepare_run(abi::ChannelHeader& channel);
  void add_thread(abi::ThreadIndex parent, std::uint32_t ordinal, std::uint64_t hash);
  /// What arrive() does when it is the current thread's turn.
  void begin_turn(const Operation& operation);
  /// The execution goes on with threads that exist already, each about to do its `pending`, as if
  /// `from` had just arrived (session_resume.cpp). Never returns.
  [[noreturn]] void go_on_from(abi::ThreadIndex from);
  [[noreturn]] void report_stuck();

  bool running_ = false;
  Vector<Thread> threads_;
  Recorder recorder_;
  ObjectMap objects_;
  Audit audit_;

 private:
  /// What is left out, and who goes on where, from the channel. Returns what is the strategy's.
  Plan take_plan(const abi::ChannelHeader& channel);
  /// The events that executions have in common are over: from here on, each has its own plan.
  static void branch_off();
  bool is_absent(std::uint64_t hash) const;
  /// nullptr: it is not left out.
  const abi::PlanRecord* skip_of(std::uint64_t thread, abi::SiteId site,
                                 std::uint32_t iteration) const;
  SchedulingPoint point() const;
  abi::ThreadIndex choose_next();
  /// What the thread is about to do is `operation`.
  void pend(Thread& thread, const Operation& operation);
  /// The strategy is to know of it.
  void show_pending(abi::ThreadIndex thread, const Operation& operation);
  bool lets_time_pass(abi::ThreadIndex thread) const override {
    return passes_time(threads_[thread].pending);
  }
  std::uint64_t hash_of(abi::ThreadIndex thread) const override { return threads_[thread].hash; }
  std::uint32_t pending_stores(abi::ThreadIndex thread) const override;
  abi::SiteId pending_store(abi::ThreadIndex thread, std::uint32_t n) const override;
  std::uint32_t flush_choices(abi::ThreadIndex flusher) const override;
  abi::SiteId flush_choice(abi::ThreadIndex flusher, std::uint32_t n) const override;
  bool drains_first(abi::ThreadIndex thread) const override;
  abi::ThreadIndex flusher_of(abi::ThreadIndex thread) const override;
  std::uint32_t flushes(std::uint64_t flusher, abi::SiteId site) const override;
  abi::ThreadIndex storer(abi::ThreadIndex thread) const;
  bool is_quiet(const Operation& pending) const;
  bool just_goes_on() const;
  struct Shutters {
    std::uint8_t* bytes;
    std::uint64_t count;
    abi::SiteId first;
  };
  void begin_view(const abi::Options& options, Plan advice);
  void change_view();
  void apply_view(const Shutters& shutters) const;
  bool is_seen(abi::SiteId site) const;
  bool is_interrupted() const;
  bool refresh_interrupted();
  void go_on();
  void decide();
  void decide_anew();
  std::uint32_t decide_value(std::uint32_t bound);
  bool wake_somebody();
  bool wake_failing();
  void add_flusher();
  void flush_chosen();
  void flush_one(abi::ThreadIndex thread, std::uint32_t choice, abi::ThreadIndex by);
  void record_flush(const PendingStore& store, abi::ThreadIndex by);
  void record_announced();
  void audit(abi::EventKind kind, abi::SiteId site, std::uint64_t address, std::uint64_t bytes);
  void stop_if_freed(const Place& place, std::uint64_t address, abi::SiteId site) {
    if (place.freed) [[unlikely]]
      stop_freed(place.object, place.offset, address, site);
  }
  [[noreturn]] void stop_freed(std::uint32_t object, std::uint64_t offset, std::uint64_t address,
                               abi::SiteId site);
  static abi::ThreadIndex find_thread(std::uint64_t hash);

  bool at_turn_ = false;  // between arrive() and record()
  /// A write that the program was told to do and that is not recorded yet.
  struct Announced {
    abi::EventKind kind = abi::EventKind::None;
    abi::SiteId site = abi::kUnknownSite;
    Place place;
    std::uint64_t address = 0;
    unsigned bytes = 0;  // 0: there is none
  };
  Announced announced_;
  bool draining_ = false;  // a stack's owner, before somebody's store to that stack
  abi::ThreadIndex current_ = 0;
  Plan left_out_{};  // the plan's records of absent threads, skipped iterations, unseen sites
  bool lacks_threads_ = false;
  std::uint64_t ends_with_ = 0;  // hash of the thread whose failure ends the run; 0: any
  VisitCounter iterations_;      // how many each thread has begun where, skipped ones included
  VisitCounter flushed_;         // stores made visible, by flusher and the store's site
  SiteSet quiet_;                // where the running thread just goes on if it can
  bool only_at_sync_ = false;
  bool overlooks_ = false;  // plain accesses that are no scheduling points are not seen at all
  SiteSet unseen_;          // sites of accesses that are not, by the schedule
  /// Part of a run that overlooks is to see everything: from when to when, in events. What is quiet
  /// and not frequent is seen all the time then.
  std::uint64_t sees_from_ = 0;
  std::uint64_t sees_until_ = 0;  // not after sees_from_: the whole run overlooks
  std::uint64_t view_changes_at_ = kNeverLook;
  SiteSet frequent_;
  Vector<Shutters> shutters_;  // of every module that stays
  bool main_has_begun_ = false;
  ThreadSet enabled_;
  OutsideWait outside_wait_ = nullptr;
  Tick tick_ = nullptr;
  const Interruption* interruption_ = nullptr;
  const HeldBack* held_back_ = nullptr;
  std::uint64_t look_at_ = kNeverLook;  // number of events at which held_back_ is looked at
  Strategy* strategy_ = nullptr;
  bool asks_when_alone_ = true;  // the strategy counts
  FairTurns fair_turns_;
  Carrier* carrier_ = nullptr;
  MemoryModel* memory_ = nullptr;
  bool delays_stores_ = false;  // the memory model does
  VirtualClock clock_;
  ToldAnswers told_;
};

extern constinit Session* session_in_use;
/// The only session of this process. Only runtime/entry and runtime/sync call this.
inline Session& session() {
  return *session_in_use;
}
/// Another kind of session takes its place, before the execution begins.
void use_session(Session& other);

/// Exit status of a process that stop() ended; the failure record says why.
inline constexpr int kStoppedStatus = 125;

}  // namespace heddle::runtime
