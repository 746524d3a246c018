// SPDX-License-Identifier: Apache-2.0
//
// Who meets whom, and who goes first.
#include <gtest/gtest.h>
#include <heddle/breakpoint.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>
#include <thread>

#include "threads.h"

namespace {

using heddle::breakpoint_stats;

/// Appends from several threads.
class Log {
 public:
  void add(char c) {
    std::lock_guard lock(mutex_);
    text_ += c;
  }
  std::string text() const { return text_; }

 private:
  std::mutex mutex_;
  std::string text_;
};

TEST(Hit, BothSidesAreToldAndCountedOnce) {
  int object = 0;
  bool first = false, second = false;
  run_all([&] { first = heddle::conflict("both", &object).pause(kForever).first(); },
          [&] { second = heddle::conflict("both", &object).pause(kForever).second(); });
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
  auto stats = breakpoint_stats("both");
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.arrivals, 2u);
  EXPECT_EQ(stats.timeouts + stats.abandoned + stats.disorders, 0u);
  EXPECT_GT(stats.paused.count(), 0);
}

TEST(Hit, ATurnLastsUntilItsEnd) {
  Log log;
  run_all(
      [&] {
        heddle::Turn turn;
        EXPECT_TRUE(heddle::breakpoint("turn").pause(kForever).first(turn));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));  // longer than order_ms
        log.add('1');
        turn.end();
      },
      [&] {
        EXPECT_TRUE(heddle::breakpoint("turn").pause(kForever).second());
        log.add('2');
      });
  EXPECT_EQ(log.text(), "12");
}

/// The side that arrives first must not matter.
void expect_order(const char* name, bool second_arrives_first) {
  int object = 0;
  Log log;
  auto arrived = [&] { return breakpoint_stats(name).arrivals == 1; };
  run_all(
      [&] {
        if (second_arrives_first) wait_until(arrived);
        heddle::conflict(name, &object).pause(kForever).first([&] { log.add('1'); });
      },
      [&] {
        if (!second_arrives_first) wait_until(arrived);
        heddle::conflict(name, &object).pause(kForever).second([&] { log.add('2'); });
      });
  EXPECT_EQ(log.text(), "12");
}
TEST(Hit, FirstGoesFirstWhenItArrivesFirst) {
  expect_order("order 12", false);
}
TEST(Hit, FirstGoesFirstWhenItArrivesLast) {
  expect_order("order 21", true);
}

TEST(Hit, SecondFollowsUntilTheFirstReachesItsNextBreakpoint) {
  int object = 0;
  std::atomic<bool> acted{false};
  bool seen = false;
  run_all(
      [&] {
        heddle::conflict("follow", &object).pause(kForever).first();
        acted = true;
        heddle::breakpoint("next").pause(std::chrono::seconds(0)).first();
      },
      [&] {
        heddle::conflict("follow", &object).pause(kForever).order(kForever).second();
        seen = acted;
      });
  EXPECT_TRUE(seen);
}

TEST(Hit, TurnEndsWhenTheActionThrows) {
  int object = 0;
  bool caught = false, second = false;
  run_all(
      [&] {
        try {
          heddle::conflict("throw", &object).pause(kForever).first([] { throw 1; });
        } catch (int) {
          caught = true;
        }
      },
      [&] { second = heddle::conflict("throw", &object).pause(kForever).second(); });
  EXPECT_TRUE(caught);
  EXPECT_TRUE(second);
}

TEST(Hit, ManySidesGoOnInTheirOrder) {
  Log log;
  auto side = [&](unsigned k) {
    return [&log, k] {
      heddle::breakpoint<4>("four").pause(kForever).side(k, [&] { log.add(char('0' + k)); });
    };
  };
  run_all(side(2), side(0), side(3), side(1));
  EXPECT_EQ(log.text(), "0123");
  EXPECT_EQ(breakpoint_stats("four").hits, 1u);
}

TEST(Hit, ManySidesGoOnInTheirOrderWithoutActions) {
  std::atomic<int> next{0};
  bool in_order[3] = {};
  auto side = [&](unsigned k) {
    return [&, k] {
      heddle::breakpoint<3>("three").pause(kForever).order(kForever).side(k);
      in_order[k] = next++ == static_cast<int>(k);
      heddle::breakpoint("three over").pause(std::chrono::seconds(0)).first();
    };
  };
  run_all(side(2), side(1), side(0));
  EXPECT_TRUE(in_order[0] && in_order[1] && in_order[2]);
}

TEST(Hit, OneLineCanBeBothSides) {
  int object = 0;
  bool hits[2] = {};
  auto same_line = [&](int i) {
    return [&, i] { hits[i] = heddle::conflict("any", &object).pause(kForever).any(); };
  };
  run_all(same_line(0), same_line(1));
  EXPECT_TRUE(hits[0] && hits[1]);
  EXPECT_EQ(breakpoint_stats("any").hits, 1u);
}

TEST(Hit, SameSideTwiceIsNoHit) {
  int object = 0;
  auto first = [&] { return heddle::conflict("same side", &object).first(); };
  bool hits[2] = {};
  run_all([&] { hits[0] = first(); }, [&] { hits[1] = first(); });
  EXPECT_FALSE(hits[0] || hits[1]);
}

TEST(Hit, ConflictNeedsTheSameObject) {
  int one = 0, other = 0;
  bool hits[2] = {};
  run_all([&] { hits[0] = heddle::conflict("objects", &one).first(); },
          [&] { hits[1] = heddle::conflict("objects", &other).second(); });
  EXPECT_FALSE(hits[0] || hits[1]);
  EXPECT_EQ(breakpoint_stats("objects").hits, 0u);
  EXPECT_EQ(breakpoint_stats("objects").timeouts + breakpoint_stats("objects").abandoned, 2u);
}

TEST(Hit, DeadlockNeedsCrossedLocks) {
  int a = 0, b = 0;
  bool crossed[2] = {}, parallel[2] = {};
  run_all([&] { crossed[0] = heddle::deadlock("crossed", &a, &b).pause(kForever).first(); },
          [&] { crossed[1] = heddle::deadlock("crossed", &b, &a).pause(kForever).second(); });
  EXPECT_TRUE(crossed[0] && crossed[1]);
  run_all([&] { parallel[0] = heddle::deadlock("parallel", &a, &b).first(); },
          [&] { parallel[1] = heddle::deadlock("parallel", &a, &b).second(); });
  EXPECT_FALSE(parallel[0] || parallel[1]);
}

TEST(Hit, DeadlockOfThreeIsACircle) {
  int a = 0, b = 0, c = 0;
  std::atomic<int> hits{0};
  auto side = [&](unsigned k, void* held, void* wanted) {
    return [&, k, held, wanted] {
      hits += heddle::deadlock<3>("circle", held, wanted).pause(kForever).side(k);
    };
  };
  run_all(side(0, &a, &b), side(1, &b, &c), side(2, &c, &a));
  EXPECT_EQ(hits, 3);
}

TEST(Hit, IntruderActsInTheMiddleOfTheBlock) {
  int length = 3;
  int before = 0, after = 0;
  run_all(
      [&] {
        before = length;
        heddle::atomicity("block", &length).pause(kForever).side(heddle::interrupted);
        after = length;
      },
      [&] {
        heddle::atomicity("block", &length).pause(kForever).side(heddle::intruder, [&] {
          length = 0;
        });
      });
  EXPECT_EQ(before, 3);
  EXPECT_EQ(after, 0);
}

TEST(Hit, NotificationIsMissed) {
  int condition = 0;
  Log log;
  run_all(
      [&] {
        heddle::missed_notification("missed", &condition).pause(kForever).side(heddle::waiter, [&] {
          log.add('w');
        });
      },
      [&] {
        heddle::missed_notification("missed", &condition)
            .pause(kForever)
            .side(heddle::notifier, [&] { log.add('n'); });
      });
  EXPECT_EQ(log.text(), "nw");
}

struct Request {
  int id;
  bool write;
};

TEST(Hit, GlobalPredicateSeesBothStatesInTheOrderOfTheSides) {
  auto write_then_read = [](const Request& first, const Request& second) {
    return first.id == second.id && first.write && !second.write;
  };
  bool hits[2] = {};
  run_all(
      [&] {
        hits[0] = heddle::breakpoint("global", Request{7, true})
                      .where(write_then_read)
                      .pause(kForever)
                      .first();
      },
      [&] {
        hits[1] = heddle::breakpoint("global", Request{7, false})
                      .where(write_then_read)
                      .pause(kForever)
                      .second();
      });
  EXPECT_TRUE(hits[0] && hits[1]);
}

TEST(Hit, AmongSeveralPostponedTheRightOneIsMet) {
  auto same = [](int a, int b) { return a == b; };
  auto side = [&](int id, unsigned k) {
    return heddle::breakpoint("among", id).where(same).pause(kForever).side(k);
  };
  std::atomic<int> hits{0};
  std::thread one([&] { hits += side(1, 0); });
  std::thread two([&] { hits += side(2, 0); });
  wait_until([] { return breakpoint_stats("among").arrivals == 2; });
  run_all([&] { hits += side(2, 1); });
  two.join();
  EXPECT_EQ(hits, 2);
  run_all([&] { hits += side(1, 1); });
  one.join();
  EXPECT_EQ(hits, 4);
}

TEST(Hit, ThreadsThatArriveTogetherNeverMissEachOther) {
  // Predicates run without the engine's lock. Postponed threads that do not match make both sides
  // evaluate theirs at the same time; the one that is done last must see the other all the same.
  constexpr int kDecoy = 0, kReal = 1;
  auto both_real = [](int a, int b) {
    std::this_thread::yield();
    return a == kReal && b == kReal;
  };
  auto arrive = [&](int state, unsigned k) {
    return heddle::breakpoint("together", state)
        .where(both_real)
        .pause(kForever)
        .order(std::chrono::seconds(0))
        .side(k);
  };
  std::thread decoys[] = {std::thread([&] { arrive(kDecoy, 0); }),
                          std::thread([&] { arrive(kDecoy, 1); })};
  wait_until([] { return breakpoint_stats("together").arrivals == 2; });
  int hits[2] = {};
  auto side = [&](unsigned k) {
    return [&, k] {
      for (int i = 0; i < 300; ++i) hits[k] += arrive(kReal, k);
    };
  };
  run_all(side(0), side(1));
  for (std::thread& decoy : decoys) decoy.join();
  EXPECT_EQ(hits[0], 300);
  EXPECT_EQ(breakpoint_stats("together").hits, 300u);
}

TEST(Hit, ErrnoIsLeftAlone) {
  int object = 0;
  int seen = 0;
  run_all([&] {
    errno = 4711;
    heddle::conflict("errno", &object).first();
    seen = errno;
  });
  EXPECT_EQ(seen, 4711);
}

}  // namespace
