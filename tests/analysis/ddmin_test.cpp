// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/ddmin.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

namespace heddle::analysis {
namespace {

/// Asks `test` about one candidate after the other.
FirstThatHolds<int> one_by_one(const std::function<bool(const std::vector<int>&)>& test) {
  return [test](const Candidates<int>& candidates) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (test(candidates[i])) return i;
    }
    return std::nullopt;
  };
}

std::vector<int> numbers(int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

bool at_eight(std::size_t parts, bool of_all) {
  return of_all && parts >= 8;
}

TEST(Ddmin, FindsExactlyWhatIsNeeded) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int count = 1 + static_cast<int>(random() % 60);
    std::set<int> needed;
    for (unsigned i = random() % 5; i > 0; --i) {
      needed.insert(static_cast<int>(random() % static_cast<unsigned>(count)));
    }
    const auto result =
        ddmin<int>(numbers(count), one_by_one([&](const std::vector<int>& candidate) {
                     const std::set<int> have(candidate.begin(), candidate.end());
                     return std::includes(have.begin(), have.end(), needed.begin(), needed.end());
                   }));
    EXPECT_EQ(result, std::vector<int>(needed.begin(), needed.end()));
  }
}

TEST(Ddmin, NoSingleItemCanBeRemovedFromTheResult) {
  // Either the even or at least ten numbers: not monotone, so only 1-minimality is promised.
  const auto test = [](const std::vector<int>& candidate) {
    return candidate.size() >= 10 || (candidate.size() >= 2 && candidate[0] % 2 == 0);
  };
  const auto result = ddmin<int>(numbers(40), one_by_one(test));
  EXPECT_TRUE(test(result));
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::vector<int> rest = result;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(test(rest));
  }
}

TEST(Ddmin, AsksLittleWhenNothingIsNeeded) {
  int asked = 0;
  const auto result = ddmin<int>(numbers(1000), one_by_one([&](const std::vector<int>&) {
                                   ++asked;
                                   return true;
                                 }));
  EXPECT_TRUE(result.empty());
  EXPECT_EQ(asked, 1);
}

TEST(Ddmin, GivesUpWhereEverythingIsNeeded) {
  int asked = 0;
  const auto none = one_by_one([&](const std::vector<int>&) {
    ++asked;
    return false;
  });
  EXPECT_EQ(ddmin<int>(numbers(5000), none, at_eight).size(), 5000u);
  EXPECT_LT(asked, 40);
}

TEST(Ddmin, DoesNotGiveUpOnceSomethingWasRemoved) {
  const auto test = one_by_one([](const std::vector<int>& candidate) {
    return std::count_if(candidate.begin(), candidate.end(), [](int i) { return i < 300; }) == 300;
  });
  EXPECT_EQ(ddmin<int>(numbers(400), test, at_eight).size(), 300u);
}

TEST(Ddmin, AGoodGuessCostsFewTrials) {
  int asked = 0;
  const auto result =
      ddmin<int>(numbers(450), one_by_one([&](const std::vector<int>& candidate) {
                   ++asked;
                   return std::set<int>(candidate.begin(), candidate.end()).contains(1);
                 }));
  EXPECT_EQ(result, std::vector<int>{1});
  EXPECT_LE(asked, 6);
}

}  // namespace
}  // namespace heddle::analysis
