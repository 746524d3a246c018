// SPDX-License-Identifier: Apache-2.0
//
// The hooks of a controlled run, implemented by a toy scheduler that lets one thread run at a time:
// a hit is certain, takes no time, and a pause in vain ends exactly when nobody else can run.
#include <gtest/gtest.h>
#include <heddle/breakpoint.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Runs its threads in turn: only the current one is awake.
class ToyScheduler {
 public:
  void run(std::vector<std::function<void()>> bodies) {
    states_.assign(bodies.size(), {});
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      threads.emplace_back([this, i, body = std::move(bodies[i])] {
        self_ = static_cast<int>(i);
        {
          std::unique_lock lock(mutex_);
          awake_.wait(lock, [&] { return current_ == self_; });
          states_[i].thread = static_cast<unsigned long>(pthread_self());
        }
        body();
        std::unique_lock lock(mutex_);
        states_[i].done = true;
        next(lock);
      });
    }
    {
      std::unique_lock lock(mutex_);
      current_ = 0;
    }
    awake_.notify_all();
    for (std::thread& thread : threads) thread.join();
    current_ = -1;
    self_ = -1;
    resumed_.clear();
  }

  int arrive(const void* token) {
    std::unique_lock lock(mutex_);
    log_ += "arrive ";
    State& state = states_[self_];
    state.token = token;
    state.since = ++clock_;
    while (!resumed_.erase(token)) {
      state.blocked = true;
      if (next(lock)) continue;
      return 0;
    }
    return 1;
  }

  void resume(const void* token) {
    std::unique_lock lock(mutex_);
    log_ += "resume ";
    resumed_.insert(token);
    for (State& state : states_) {
      if (state.token == token) state.blocked = false;
    }
  }

  /// Gives way until the leader was current once more (its step is what it does until it gives
  /// way).
  void follow(unsigned long leader) {
    std::unique_lock lock(mutex_);
    log_ += "follow ";
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (states_[i].thread == leader && !states_[i].done && !states_[i].blocked) {
        int self = self_;
        current_ = static_cast<int>(i);
        awake_.notify_all();
        awake_.wait(lock, [&] { return current_ == self; });
      }
    }
  }

  /// Resumes the first thread for no reason and lets it run.
  void resume_first_spuriously() {
    resume(states_[0].token);
    follow(states_[0].thread);
  }

  std::string take_log() { return std::exchange(log_, {}); }

 private:
  struct State {
    bool blocked = false, done = false, gave_up = false;
    unsigned long since = 0;
    unsigned long thread = 0;
    const void* token = nullptr;
  };

  /// Switches to a thread that can run. False if the calling thread is to give up its pause.
  bool next(std::unique_lock<std::mutex>& lock) {
    int choice = -1;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (!states_[i].blocked && !states_[i].done) choice = static_cast<int>(i);
    }
    if (choice < 0) {  // all blocked or done: the oldest pause ends
      for (std::size_t i = 0; i < states_.size(); ++i) {
        if (states_[i].done) continue;
        if (choice < 0 || states_[i].since < states_[choice].since) choice = static_cast<int>(i);
      }
      if (choice < 0) return true;  // everybody is done
      states_[choice].blocked = false;
      states_[choice].gave_up = true;
    }
    int self = self_;
    current_ = choice;
    awake_.notify_all();
    if (states_[self].done) return true;
    awake_.wait(lock, [&] { return current_ == self; });
    return !std::exchange(states_[self].gave_up, false);
  }

  std::mutex mutex_;
  std::condition_variable awake_;
  std::vector<State> states_;
  std::set<const void*> resumed_;
  std::string log_;
  int current_ = -1;
  unsigned long clock_ = 0;
  static thread_local int self_;
};

thread_local int ToyScheduler::self_ = -1;
ToyScheduler toy;

}  // namespace

extern "C" int __heddle_breakpoint_controls() {
  return 1;
}
extern "C" int __heddle_breakpoint_arrive(const void*, unsigned, unsigned, const void* token) {
  return toy.arrive(token);
}
extern "C" void __heddle_breakpoint_resume(const void* token) {
  toy.resume(token);
}
extern "C" void __heddle_breakpoint_follow(const void*, unsigned long leader) {
  toy.follow(leader);
}

namespace {

TEST(Hooks, TheHitIsCertainAndTakesNoTime) {
  int object = 0;
  bool first = false, second = false;
  // The pause would be over at once if time passed.
  constexpr std::chrono::nanoseconds kShort{1000};
  toy.run({[&] { second = heddle::conflict("toy", &object).pause(kShort).second(); },
           [&] { first = heddle::conflict("toy", &object).pause(kShort).first(); }});
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
  auto stats = heddle::breakpoint_stats("toy");
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.paused.count(), 0);
  EXPECT_EQ(toy.take_log(), "arrive resume resume follow ");
}

TEST(Hooks, ATurnNeedsNoFollowing) {
  int object = 0;
  std::string log;
  toy.run({[&] { heddle::conflict("toy turn", &object).second([&] { log += '2'; }); },
           [&] { heddle::conflict("toy turn", &object).first([&] { log += '1'; }); }});
  EXPECT_EQ(log, "12");
  EXPECT_EQ(toy.take_log().find("follow"), std::string::npos);
}

TEST(Hooks, APauseInVainEndsWhenNobodyElseCanRun) {
  int object = 0;
  bool met = false;
  toy.run({[&] {
             heddle::conflict("toy older", &object).first();
             met = heddle::conflict("toy younger", &object).second();
           },
           [&] { heddle::conflict("toy younger", &object).first(); }});
  EXPECT_TRUE(met);
  EXPECT_EQ(heddle::breakpoint_stats("toy older").abandoned, 1u);
  EXPECT_EQ(heddle::breakpoint_stats("toy older").timeouts, 0u);
}

TEST(Hooks, ASpuriousResumeIsNoHitAndNoEnd) {
  int object = 0;
  bool hit = false;
  toy.run({[&] { heddle::conflict("toy spurious", &object).second(); },
           [&] {
             toy.resume_first_spuriously();
             hit = heddle::conflict("toy spurious", &object).first();
           }});
  EXPECT_TRUE(hit);
  EXPECT_EQ(heddle::breakpoint_stats("toy spurious").abandoned, 0u);
}

TEST(Hooks, SchedulesAreControlledToo) {
  heddle::Schedule schedule("toy schedule", {"a", "b", "c"});
  std::string log;
  auto step = [&](const char* point) { schedule.step(point, [&] { log += point; }); };
  toy.run({[&] {
             step("a");
             step("c");
           },
           [&] { step("b"); }});
  EXPECT_EQ(log, "abc");
  EXPECT_TRUE(schedule.followed());
}

}  // namespace
