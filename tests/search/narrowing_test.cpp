// SPDX-License-Identifier: Apache-2.0
#include "driver/search/narrowing.h"

#include <gtest/gtest.h>

#include <vector>

#include "append.h"

namespace heddle::driver {
namespace {

using abi::EventKind;

/// What an execution of two threads did, as far as it was seen.
class Shown {
 public:
  Shown() : channel_(100'000) {
    append(channel_, channel_.header().threads, abi::ThreadRecord{11, 0, abi::kNoThread, 0});
    append(channel_, channel_.header().threads, abi::ThreadRecord{12, 1, 0, 0});
    abi::ObjectRecord object;
    object.kind = abi::ObjectKind::Heap;
    object.size = 1 << 16;
    append(channel_, channel_.header().objects, object);
  }
  Shown& add(abi::ThreadIndex thread, abi::SiteId site, std::uint64_t offset, unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) {
      append(channel_, channel_.header().events,
             abi::EventRecord{EventKind::Store, thread, site, 1, 8, offset, 0, 0});
    }
    return *this;
  }
  const Channel& channel() const { return channel_; }

 private:
  Channel channel_;
};

constexpr abi::SiteId kOwn = abi::kFirstSite;  // of the first thread alone, and frequent
constexpr abi::SiteId kSeldom = kOwn + 1;      // the same, but seldom
constexpr abi::SiteId kRacing = kOwn + 2;      // of both threads

struct Small : Shown {
  Small() { add(0, kOwn, 0, 10'000); }
};

struct Automatic {
  Narrowing narrowing{abi::Options{}};
  Knowledge knowledge;
  std::uint64_t last = 0;

  Trial next() {
    Trial trial;
    trial.number = ++last;
    narrowing.apply(trial, knowledge);
    return trial;
  }
  void see_large() {
    Shown shown;
    shown.add(0, kOwn, 0, 20'000).add(0, kSeldom, 8).add(0, kRacing, 16).add(1, kRacing, 16);
    EXPECT_TRUE(narrowing.learn(next(), shown.channel()));
  }
};

std::vector<abi::SiteId> quiet(const Trial& trial) {
  std::vector<abi::SiteId> sites;
  for (const abi::PlanRecord& record : trial.plan) sites.push_back(record.site);
  return sites;
}

TEST(Narrowing, ChangesNothingWhileExecutionsAreSmall) {
  Automatic search;
  const Small shown;
  for (int i = 0; i < 20; ++i) {
    const Trial trial = search.next();
    EXPECT_TRUE(trial.plan.empty());
    EXPECT_EQ(trial.options.overlook, 0u);
    EXPECT_FALSE(search.narrowing.learn(trial, shown.channel()));
    EXPECT_FALSE(search.narrowing.overlooks());
  }
}

TEST(Narrowing, KeepsToWhatRacedOnceAnExecutionWasLarge) {
  Automatic search;
  search.see_large();
  EXPECT_TRUE(search.narrowing.overlooks());
  const Trial trial = search.next();
  EXPECT_EQ(trial.options.overlook, 1u);
  EXPECT_EQ(quiet(trial), (std::vector{kOwn, kSeldom}));
  EXPECT_EQ(trial.plan[0].occurrence, 1u) << "it was frequent";
  EXPECT_EQ(trial.plan[1].occurrence, 0u);
}

/// The trials among the next `count` that look, when looks show what `shown` does.
std::vector<Trial> looks(Automatic& search, int count, const Shown& shown) {
  std::vector<Trial> found;
  for (int i = 0; i < count; ++i) {
    const Trial trial = search.next();
    if (Narrowing::is_look(trial)) found.push_back(trial);
    search.narrowing.learn(trial, shown.channel());
  }
  return found;
}

TEST(Narrowing, LooksLaterAndLongerWhileThatShowsNothingNew) {
  Automatic search;
  search.see_large();
  const std::vector<Trial> found = looks(search, 400, Small());
  std::vector<std::uint64_t> pauses;
  for (std::size_t i = 1; i < found.size(); ++i) {
    pauses.push_back(found[i].number - found[i - 1].number);
    EXPECT_GE(found[i].options.see_events, found[i - 1].options.see_events);
  }
  EXPECT_EQ(pauses, (std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 64, 64, 64, 64, 64}));
  EXPECT_EQ(found.front().options.see_events, 25'000u);
  EXPECT_EQ(found.back().options.see_events, abi::Options{}.max_events / 4);
}

TEST(Narrowing, LooksSoonAgainWhenALookShowedSomethingNew) {
  Automatic search;
  search.see_large();
  looks(search, 100, Small());
  Shown races;
  races.add(0, kSeldom, 8).add(1, kRacing, 8);
  Trial look = search.next();
  while (!Narrowing::is_look(look)) look = search.next();
  search.narrowing.learn(look, races.channel());
  const Trial next = search.next();
  EXPECT_TRUE(Narrowing::is_look(next));
  EXPECT_EQ(quiet(next), (std::vector{kOwn})) << "the other one raced";
}

TEST(Narrowing, MakesATrialWithTooManyEventsSeeLess) {
  Automatic search;
  Trial trial = search.next();
  EXPECT_LT(trial.options.max_events, abi::Options{}.max_events);
  const Small first;
  ASSERT_TRUE(search.narrowing.narrow(trial, first.channel()));
  EXPECT_EQ(trial.options.overlook, 1u);
  EXPECT_EQ(trial.options.max_events, abi::Options{}.max_events);
  EXPECT_EQ(quiet(trial), (std::vector{kOwn}));
  // Further on there is more that nobody races for; then nothing.
  Shown further;
  further.add(0, kSeldom, 8, 100);
  ASSERT_TRUE(search.narrowing.narrow(trial, further.channel()));
  EXPECT_EQ(quiet(trial), (std::vector{kOwn, kSeldom}));
  EXPECT_FALSE(search.narrowing.narrow(trial, further.channel()));
}

TEST(Narrowing, LeavesThoseAloneThatNeedAll) {
  abi::Options options;
  std::strcpy(options.memory_model, "tso");
  Narrowing buffered(options);
  Trial trial;
  buffered.apply(trial, Knowledge());
  EXPECT_EQ(trial.options.max_events, options.max_events);
  EXPECT_FALSE(buffered.learn(trial, Small().channel()));
  EXPECT_FALSE(buffered.narrow(trial, Small().channel()));

  Automatic search;
  search.see_large();
  std::strcpy(trial.options.strategy, "prefix");
  search.narrowing.apply(trial, Knowledge());
  EXPECT_TRUE(trial.plan.empty());
  search.narrowing.see_everything();
  EXPECT_EQ(search.next().options.overlook, 0u);
}

}  // namespace
}  // namespace heddle::driver
