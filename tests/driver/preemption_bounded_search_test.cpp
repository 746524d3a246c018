// SPDX-License-Identifier: Apache-2.0
//
// The search against a program small enough to count its schedules by hand: n threads that each
// take k steps and never block. A schedule is an order of threads; its preemptions are the switches
// away from a thread that still has steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "driver/search/search.h"

namespace heddle::driver {
namespace {

class ToyProgram {
 public:
  ToyProgram(unsigned threads, unsigned steps) : threads_(threads), steps_(steps), channel_(1000) {
    for (unsigned i = 0; i < threads; ++i) {
      append(channel_.header().threads, abi::ThreadRecord{hash(i), i, 0, 0});
    }
  }

  /// Does what the prefix strategy would, and writes down its decisions.
  std::string run(const Trial& trial) {
    channel_.header().decisions.count = 0;
    std::vector<unsigned> left(threads_, steps_);
    std::string order;
    unsigned current = 0;
    std::size_t position = 0;
    for (unsigned step = 0; step < threads_ * steps_; ++step) {
      std::uint64_t enabled = 0;
      unsigned count = 0;
      for (unsigned i = 0; i < threads_; ++i) {
        if (left[i] > 0) enabled |= 1ull << i, ++count;
      }
      const bool could_continue = left[current] > 0;
      unsigned chosen = could_continue ? current : std::countr_zero(enabled);
      if (count > 1) {
        if (position < trial.plan.size()) {
          for (unsigned i = 0; i < threads_; ++i) {
            if (trial.plan[position].target == hash(i)) chosen = i;
          }
        }
        ++position;
        abi::DecisionRecord record{};
        record.enabled = enabled;
        record.chosen = chosen;
        record.bound = count;
        record.thread = static_cast<abi::ThreadIndex>(current);
        record.kind = abi::DecisionKind::Thread;
        record.could_continue = could_continue;
        append(channel_.header().decisions, record);
      }
      current = chosen;
      --left[current];
      order += static_cast<char>('a' + current);
    }
    return order;
  }

  unsigned preemptions(const std::string& order) const {
    std::vector<unsigned> left(threads_, steps_);
    unsigned count = 0;
    char last = 'a';
    for (const char thread : order) {
      if (thread != last && left[static_cast<unsigned>(last - 'a')] > 0) ++count;
      --left[static_cast<unsigned>(thread - 'a')];
      last = thread;
    }
    return count;
  }

  const Channel& channel() const { return channel_; }

 private:
  static std::uint64_t hash(unsigned thread) { return 100 + thread; }

  template <typename Record>
  void append(abi::Region& region, const Record& record) {
    auto* const first = reinterpret_cast<char*>(&channel_.header()) + region.offset;
    reinterpret_cast<Record*>(first)[region.count++] = record;
  }

  unsigned threads_;
  unsigned steps_;
  Channel channel_;
};

std::map<unsigned, std::set<std::string>> all_orders(const ToyProgram& program, unsigned threads,
                                                     unsigned steps) {
  std::string order;
  for (unsigned i = 0; i < threads; ++i) order += std::string(steps, static_cast<char>('a' + i));
  std::map<unsigned, std::set<std::string>> result;
  do {
    result[program.preemptions(order)].insert(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return result;
}

SearchSettings unpruned(std::uint32_t bound) {
  SearchSettings settings;
  settings.strategies = {"chess"};
  settings.max_preemptions = bound;
  settings.prune = false;
  return settings;
}

class Exhaustive : public testing::TestWithParam<std::tuple<unsigned, unsigned, unsigned>> {};

TEST_P(Exhaustive, EverySchedulesOnceFewerPreemptionsFirst) {
  const auto [threads, steps, bound] = GetParam();
  ToyProgram program(threads, steps);
  const auto search = make_search(unpruned(bound));
  std::set<std::string> seen;
  unsigned last = 0;
  while (const auto trial = search->next()) {
    const std::string order = program.run(*trial);
    EXPECT_TRUE(seen.insert(order).second) << order << " twice";
    EXPECT_GE(program.preemptions(order), last);
    last = program.preemptions(order);
    search->observe(*trial, program.channel(), false);
  }
  std::set<std::string> expected;
  for (const auto& [preemptions, orders] : all_orders(program, threads, steps)) {
    if (preemptions <= bound) expected.insert(orders.begin(), orders.end());
  }
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(search->exhausted_bound(), bound);
}

INSTANTIATE_TEST_SUITE_P(Small, Exhaustive,
                         testing::Values(std::tuple{2u, 2u, 0u}, std::tuple{2u, 3u, 1u},
                                         std::tuple{2u, 4u, 9u}, std::tuple{3u, 2u, 2u},
                                         std::tuple{3u, 3u, 1u}, std::tuple{4u, 2u, 9u}));

TEST(PreemptionBoundedSearch, NothingIsExhaustedAtTheBeginning) {
  const auto search = make_search(unpruned(2));
  EXPECT_EQ(search->exhausted_bound(), std::nullopt);
}

}  // namespace
}  // namespace heddle::driver
