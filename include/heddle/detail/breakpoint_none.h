// SPDX-License-Identifier: Apache-2.0
//
// breakpoint.h with HEDDLE_NO_BREAKPOINTS: the same names, nothing behind them. Actions are part of
// the program and still run. A namespace of its own, because files with and without the macro may
// be linked together.
#ifndef HEDDLE_DETAIL_BREAKPOINT_NONE_H_
#define HEDDLE_DETAIL_BREAKPOINT_NONE_H_

namespace heddle {
inline namespace none {

inline constexpr unsigned intruder = 0, interrupted = 1;
inline constexpr unsigned notifier = 0, waiter = 1;

struct BreakpointStats {
  std::uint64_t arrivals, ignored, hits, timeouts, abandoned, disorders, errors, refused;
  std::chrono::nanoseconds paused;
};
inline BreakpointStats breakpoint_stats(const char*) {
  return {};
}
inline void enable_breakpoints(bool) {}
inline bool configure_breakpoints(const char*) {
  return true;
}

class Turn {
 public:
  ~Turn() {}  // not trivial: see Holding
  void end() {}
};

class Trigger {
 public:
  using Time = std::chrono::duration<double, std::milli>;
  Trigger& pause(Time) { return *this; }
  Trigger& order(Time) { return *this; }
  Trigger& ignore_first(unsigned long) { return *this; }
  Trigger& bound(unsigned long) { return *this; }
  Trigger& give_up(unsigned long) { return *this; }
  Trigger& while_holding(const void*) { return *this; }
  Trigger& while_holding(const char*) { return *this; }
  Trigger& under(const char*) { return *this; }
  Trigger& after(const char*) { return *this; }
  template <class Predicate>
  Trigger& when(const Predicate&) {
    return *this;
  }
  template <class Predicate>
  Trigger& where(const Predicate&) {
    return *this;
  }

  bool first() { return false; }
  bool second() { return false; }
  bool any() { return false; }
  bool side(unsigned) { return false; }

  bool first(Turn&) { return false; }
  bool second(Turn&) { return false; }
  bool any(Turn&) { return false; }
  bool side(unsigned, Turn&) { return false; }

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
    return side(0, std::forward<Action>(action));
  }
  template <class Action>
  bool side(unsigned, Action&& action) {
    std::forward<Action>(action)();
    return false;
  }
};

template <unsigned Sides = 2>
Trigger breakpoint(const char*) {
  return {};
}
template <unsigned Sides = 2, class State>
Trigger breakpoint(const char*, const State&) {
  return {};
}
template <unsigned Sides = 2>
Trigger conflict(const char*, const void*) {
  return {};
}
template <unsigned Sides = 2>
Trigger deadlock(const char*, const void*, const void*) {
  return {};
}
inline Trigger atomicity(const char*, const void*) {
  return {};
}
inline Trigger missed_notification(const char*, const void*) {
  return {};
}

class Holding {
 public:
  explicit Holding(const void*, const char* = nullptr) {}
  ~Holding() {}  // not trivial: a guard nobody reads again must not be called unused
};

template <class Mutex>
class HoldingLock {
 public:
  explicit HoldingLock(Mutex& mutex, const char* = nullptr) : mutex_(mutex) { mutex_.lock(); }
  ~HoldingLock() { mutex_.unlock(); }
  HoldingLock(const HoldingLock&) = delete;
  HoldingLock& operator=(const HoldingLock&) = delete;

 private:
  Mutex& mutex_;
};

class Context {
 public:
  explicit Context(const char*) {}
  ~Context() {}
};

class Schedule {
 public:
  Schedule(const char*, std::initializer_list<const char*>,
           std::chrono::duration<double, std::milli> = {}) {}
  void point(const char*) {}
  template <class Action>
  void step(const char*, Action&& action) {
    std::forward<Action>(action)();
  }
  bool followed() const { return false; }
};

}  // namespace none
}  // namespace heddle

#endif  // HEDDLE_DETAIL_BREAKPOINT_NONE_H_
