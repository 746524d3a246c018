// SPDX-License-Identifier: Apache-2.0
//
// Concurrent breakpoints (Park and Sen, "Concurrent Breakpoints", 2011) for C++17 and later.
//
// A concurrent breakpoint makes a rare interleaving happen: it names two places in the program and
// a condition over the two threads that are there. The thread that comes first is postponed for a
// while; when the other comes and the condition holds, the breakpoint is hit and the two go on in
// the order of their sides.
//
//   heddle::conflict("stale length", &buffer).first();   // goes on first
//   heddle::conflict("stale length", &buffer).second();  // goes on after it
//
// Two lines in a bug report, and the bug shows in nearly every run. Nothing else of Heddle is
// needed: header only, link with -pthread. No thread is postponed for ever: a pause ends after its
// time (100 ms unless told otherwise), or at once when no other thread can run any more. Without a
// hit the program does what it would have done anyway.
//
// Defaults come from HEDDLE_BREAKPOINTS=key=value:key=value
//   enabled=0        off: each breakpoint is one predictable branch
//   pause_ms=100     how long a thread is postponed
//   order_ms=5       how long the second side still waits after the first has left
//   ignore_first=0   arrivals at each side that pass
//   bound=0          hits after which a breakpoint is over (0: never)
//   give_up=0        unsuccessful pauses after which a breakpoint never hit is over (0: never)
//   early_end=1      end a pause when no other thread can run
//   verbose=0        say on stderr when a breakpoint is hit
//   report=none      at exit: text or json, on stderr or appended to
//   report_file=     this file (%p: the process)
// What a call says itself wins. With HEDDLE_NO_BREAKPOINTS defined all of it compiles to nothing.
// docs/breakpoints.md has the whole story, with what happens in signal handlers, over fork, and so
// on.
#ifndef HEDDLE_BREAKPOINT_H_
#define HEDDLE_BREAKPOINT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

#ifdef HEDDLE_NO_BREAKPOINTS
#include "detail/breakpoint_none.h"
#else

#include "detail/breakpoint_engine.h"
#include "detail/breakpoint_schedule.h"

namespace heddle {
inline namespace live {

/// The two sides' names by what they do, for Trigger::side.
inline constexpr unsigned intruder = 0, interrupted = 1;  // atomicity
inline constexpr unsigned notifier = 0, waiter = 1;       // missed notification

struct BreakpointStats {
  std::uint64_t arrivals, ignored, hits, timeouts, abandoned, disorders, errors, refused;
  std::chrono::nanoseconds paused;
};

/// What the breakpoint (or schedule) of this name has counted so far; zeros if it was not reached.
inline BreakpointStats breakpoint_stats(const char* name) {
  auto count = [name](heddle_bp_count which) { return heddle_bp_count_of(name, which); };
  return {count(HEDDLE_BP_ARRIVALS),
          count(HEDDLE_BP_IGNORED),
          count(HEDDLE_BP_HITS),
          count(HEDDLE_BP_TIMEOUTS),
          count(HEDDLE_BP_ABANDONED),
          count(HEDDLE_BP_DISORDERS),
          count(HEDDLE_BP_ERRORS),
          count(HEDDLE_BP_REFUSED),
          std::chrono::nanoseconds(count(HEDDLE_BP_PAUSED_NS))};
}

/// Switches all breakpoints on or off; off ends the pauses under way.
inline void enable_breakpoints(bool on) {
  heddle_bp_enable(on);
}

/// The same text as HEDDLE_BREAKPOINTS, from inside the program; before threads reach breakpoints.
inline bool configure_breakpoints(const char* options) {
  return heddle_bp_configure(options) != 0;
}

namespace breakpoint_detail {

struct Nothing {};

/// What a trigger was told so far; the fields of heddle_bp_arrival that are plain values.
struct Refined {
  const char* name;
  const char* type = nullptr;
  const void* object = nullptr;
  const void* wanted = nullptr;
  double pause_ms = 0;
  double order_ms = 0;
  unsigned long ignore_first = 0;
  unsigned long bound = 0;
  unsigned long give_up = 0;
  const void* holding = nullptr;
  const char* holding_tag = nullptr;
  const char* context = nullptr;
  const char* after = nullptr;
};

/// Identifies a type across translation units without RTTI.
template <class State>
const char* type_name() {
  return __PRETTY_FUNCTION__;
}

/// User code called from the engine: what it throws counts as "false" and is counted as an error. A
/// breakpoint must not bring an exception into a program that did not throw it.
template <class Call>
int guarded(Call&& call) {
#ifdef __cpp_exceptions
  try {
    return call() ? 1 : 0;
  } catch (...) {
    return -1;
  }
#else
  return call() ? 1 : 0;
#endif
}

template <class Predicate>
int call_local(const void* predicate) {
  return guarded([&] { return (*static_cast<const Predicate*>(predicate))(); });
}

template <class State, class Predicate, std::size_t... Side>
int call_global(const void* const* states, const void* predicate, std::index_sequence<Side...>) {
  return guarded([&] {
    return (*static_cast<const Predicate*>(predicate))(*static_cast<const State*>(states[Side])...);
  });
}
template <class State, class Predicate, unsigned Sides>
int call_global(const void* const* states, const void* predicate) {
  return call_global<State, Predicate>(states, predicate, std::make_index_sequence<Sides>());
}

/// Ends a turn also when the action throws.
class TurnGuard {
 public:
  explicit TurnGuard(heddle_bp_turn& turn) : turn_(turn) {}
  ~TurnGuard() { heddle_bp_end_turn(&turn_); }
  TurnGuard(const TurnGuard&) = delete;
  TurnGuard& operator=(const TurnGuard&) = delete;

 private:
  heddle_bp_turn& turn_;
};

}  // namespace breakpoint_detail

/// An action that is no single expression: begun by first(turn), side(k, turn) and so on, over at
/// end(), which does nothing if the breakpoint was not hit. Used by one thread: thread_local where
/// it begins in one function and ends in another.
class Turn {
 public:
  Turn() = default;
  ~Turn() { end(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  void end() { heddle_bp_end_turn(&turn_); }

 private:
  template <unsigned, class, class, class>
  friend class Trigger;
  heddle_bp_turn turn_{};
};

/// One side of a breakpoint, refined call by call and ended by first(), second(), side() or any().
/// A temporary: everything it refers to must live until the end of the expression only.
template <unsigned Sides = 2, class State = breakpoint_detail::Nothing,
          class Local = breakpoint_detail::Nothing, class Global = breakpoint_detail::Nothing>
class Trigger {
  static_assert(Sides >= 2 && Sides <= HEDDLE_BP_MAX_SIDES, "a breakpoint has 2 to 8 sides");
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) <= HEDDLE_BP_MAX_STATE &&
                    alignof(State) <= 16,
                "the local state is copied to the other side: trivially copyable, <= 64 bytes");

 public:
  explicit Trigger(const breakpoint_detail::Refined& refined, const State& state = {},
                   const Local& local = {}, const Global& global = {})
      : refined_(refined), state_(state), local_(local), global_(global) {}

  /// Time this side is postponed; zero means it only meets a side that is already postponed.
  Trigger& pause(std::chrono::duration<double, std::milli> time) {
    refined_.pause_ms = time.count() > 0 ? time.count() : -1;
    return *this;
  }
  /// Time this side still waits once the side before it has left.
  Trigger& order(std::chrono::duration<double, std::milli> time) {
    refined_.order_ms = time.count() > 0 ? time.count() : -1;
    return *this;
  }
  /// Passes the first n arrivals at this side.
  Trigger& ignore_first(unsigned long n) {
    refined_.ignore_first = n;
    return *this;
  }
  /// The breakpoint is over after n hits.
  Trigger& bound(unsigned long n) {
    refined_.bound = n;
    return *this;
  }
  /// The breakpoint is over after n pauses in vain and no hit.
  Trigger& give_up(unsigned long n) {
    refined_.give_up = n;
    return *this;
  }
  /// Only while the calling thread holds this lock (or one with this tag): see Holding.
  Trigger& while_holding(const void* lock) {
    refined_.holding = lock;
    return *this;
  }
  Trigger& while_holding(const char* tag) {
    refined_.holding_tag = tag;
    return *this;
  }
  /// Only inside this calling context: see Context.
  Trigger& under(const char* context) {
    refined_.context = context;
    return *this;
  }
  /// Only once the breakpoint of that name was hit: chains breakpoints.
  Trigger& after(const char* name) {
    refined_.after = name;
    return *this;
  }

  /// Only if predicate() holds: the local part of the condition. Not called when disabled.
  template <class Predicate>
  Trigger<Sides, State, Predicate, Global> when(const Predicate& predicate) const {
    return Trigger<Sides, State, Predicate, Global>(refined_, state_, predicate, global_);
  }
  /// Only if predicate(state of side 0, state of side 1, …) holds.
  template <class Predicate>
  Trigger<Sides, State, Local, Predicate> where(const Predicate& predicate) const {
    static_assert(!std::is_same_v<State, breakpoint_detail::Nothing>,
                  "where() compares local states: give one to breakpoint(name, state)");
    return Trigger<Sides, State, Local, Predicate>(refined_, state_, local_, predicate);
  }

  /// The thread is at this side. Returns whether the breakpoint was hit.
  bool first() { return side(0); }
  bool second() { return side(1); }
  bool any() { return side(HEDDLE_BP_ANY_SIDE); }
  bool side(unsigned side) {
    if (!heddle_bp_enabled()) return false;
    return arrive(side, nullptr);
  }

  /// The same; if hit, the next side goes on at turn.end().
  bool first(Turn& turn) { return side(0, turn); }
  bool second(Turn& turn) { return side(1, turn); }
  bool any(Turn& turn) { return side(HEDDLE_BP_ANY_SIDE, turn); }
  bool side(unsigned side, Turn& turn) {
    if (!heddle_bp_enabled()) return false;
    return arrive(side, &turn.turn_);
  }

  /// The same, then action(), hit or not; if hit, the next side goes on when it has returned. The
  /// order is then exact, not a matter of time.
  template <class Action>
  bool first(Action&& action) {
    return side(0, std::forward<Action>(action));
  }
  template <class Action>
  bool second(Action&& action) {
    return side(1, std::forward<Action>(action));
  }
  template <class Action>
  bool any(Action&& action) {
    return side(HEDDLE_BP_ANY_SIDE, std::forward<Action>(action));
  }
  template <class Action>
  bool side(unsigned side, Action&& action) {
    if (!heddle_bp_enabled()) {
      std::forward<Action>(action)();
      return false;
    }
    heddle_bp_turn turn{};
    bool hit = arrive(side, &turn);
    breakpoint_detail::TurnGuard guard(turn);
    std::forward<Action>(action)();
    return hit;
  }

 private:
  template <class T>
  static constexpr bool given = !std::is_same_v<T, breakpoint_detail::Nothing>;

  /// Builds the engine's view here and not earlier, member by member, so that no address of the
  /// trigger leaves it: it then lives in registers and costs nothing while disabled.
  bool arrive(unsigned side, heddle_bp_turn* turn) const {
    const State state = state_;
    const Local local = local_;
    const Global global = global_;
    heddle_bp_arrival arrival{};
    arrival.name = refined_.name;
    arrival.type = refined_.type;
    arrival.object = refined_.object;
    arrival.wanted = refined_.wanted;
    arrival.pause_ms = refined_.pause_ms;
    arrival.order_ms = refined_.order_ms;
    arrival.ignore_first = refined_.ignore_first;
    arrival.bound = refined_.bound;
    arrival.give_up = refined_.give_up;
    arrival.holding = refined_.holding;
    arrival.holding_tag = refined_.holding_tag;
    arrival.context = refined_.context;
    arrival.after = refined_.after;
    arrival.side = side;
    arrival.sides = Sides;
    arrival.turn = turn;
    if constexpr (given<State>) {
      arrival.state = &state;
      arrival.state_size = sizeof(State);
      arrival.type = breakpoint_detail::type_name<State>();
    }
    if constexpr (given<Local>) {
      arrival.local = breakpoint_detail::call_local<Local>;
      arrival.local_arg = &local;
    }
    if constexpr (given<Global>) {
      arrival.global = breakpoint_detail::call_global<State, Global, Sides>;
      arrival.global_arg = &global;
    }
    return heddle_bp_arrive(&arrival) != 0;
  }

  breakpoint_detail::Refined refined_;
  State state_;
  Local local_;
  Global global_;
};

/// A breakpoint whose condition is the caller's: by name only, or with a local state for where().
template <unsigned Sides = 2>
Trigger<Sides> breakpoint(const char* name) {
  return Trigger<Sides>({name});
}
template <unsigned Sides = 2, class State>
Trigger<Sides, State> breakpoint(const char* name, const State& state) {
  return Trigger<Sides, State>({name}, state);
}

/// All sides are about to use the same object.
template <unsigned Sides = 2>
Trigger<Sides> conflict(const char* name, const void* object) {
  return Trigger<Sides>({name, "conflict", object});
}

/// Each side holds the lock that the next one wants.
template <unsigned Sides = 2>
Trigger<Sides> deadlock(const char* name, const void* held, const void* wanted) {
  return Trigger<Sides>({name, "deadlock", held, wanted});
}

/// side(intruder) acts while side(interrupted) is in the middle of a block on the same object.
inline Trigger<2> atomicity(const char* name, const void* object) {
  return Trigger<2>({name, "atomicity", object});
}

/// side(notifier) notifies after side(waiter) has checked its condition and before it waits.
inline Trigger<2> missed_notification(const char* name, const void* condition) {
  return Trigger<2>({name, "missed notification", condition});
}

/// Tells that this thread holds a lock, for Trigger::while_holding.
class Holding {
 public:
  explicit Holding(const void* lock, const char* tag = nullptr) {
    heddle_bp_scope_enter(&scope_, lock, tag);
  }
  ~Holding() { heddle_bp_scope_leave(&scope_); }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  heddle_bp_scope scope_;
};

/// Locks, and tells. In place of std::lock_guard.
template <class Mutex>
class HoldingLock {
 public:
  explicit HoldingLock(Mutex& mutex, const char* tag = nullptr)
      : lock_(mutex), holding_(&mutex, tag) {}

 private:
  struct Lock {
    explicit Lock(Mutex& m) : mutex(m) { mutex.lock(); }
    ~Lock() { mutex.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    Mutex& mutex;
  };
  Lock lock_;
  Holding holding_;
};

/// A calling context, for Trigger::under.
class Context {
 public:
  explicit Context(const char* name) { heddle_bp_scope_enter(&scope_, nullptr, name); }
  ~Context() { heddle_bp_scope_leave(&scope_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  heddle_bp_scope scope_;
};

/// Named points of several threads, to be passed in the given order; a name that occurs twice is
/// passed twice. For unit tests that exercise one chosen interleaving. A point that cannot wait to
/// its turn breaks the schedule: from then on nobody waits, and followed() is false.
class Schedule {
 public:
  Schedule(const char* name, std::initializer_list<const char*> points,
           std::chrono::duration<double, std::milli> pause = {})
      : schedule_{} {
    for (const char* point : points) {
      if (schedule_.count < HEDDLE_BP_MAX_POINTS) points_[schedule_.count++] = point;
    }
    schedule_.name = name;
    schedule_.points = points_;
    schedule_.pause_ms = pause.count();
  }
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// Passes a point, after all earlier ones were passed.
  void point(const char* name) {
    step(name, [] {});
  }
  /// The same; the point is passed when action() has returned.
  template <class Action>
  void step(const char* name, Action&& action) {
    Passing passing{&schedule_, heddle_bp_schedule_begin(&schedule_, name)};
    std::forward<Action>(action)();
  }
  /// Whether all points were passed, and in order.
  bool followed() const { return heddle_bp_schedule_followed(&schedule_) != 0; }

 private:
  struct Passing {
    heddle_bp_schedule* schedule;
    int point;
    ~Passing() { heddle_bp_schedule_end(schedule, point); }
  };
  heddle_bp_schedule schedule_;
  const char* points_[HEDDLE_BP_MAX_POINTS];
};

}  // namespace live
}  // namespace heddle

#endif  // HEDDLE_NO_BREAKPOINTS

#endif  // HEDDLE_BREAKPOINT_H_
