// SPDX-License-Identifier: Apache-2.0
//
// One chosen interleaving in a unit test: two threads register the same name, and both look before
// either adds.
#include <gtest/gtest.h>
#include <heddle/breakpoint.h>

#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace {

class Registry {
 public:
  bool has(const std::string& name) {
    std::lock_guard lock(mutex_);
    return names_.count(name) != 0;
  }
  /// False if the name was there already.
  bool add(const std::string& name) {
    std::lock_guard lock(mutex_);
    return names_.insert(name).second;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;
};

TEST(Registry, OnlyOneOfTwoWhoBothFoundTheNameAbsentAddsIt) {
  heddle::Schedule schedule("look, look, add, add", {"A looks", "B looks", "B adds", "A adds"},
                            std::chrono::seconds(10));
  Registry registry;
  bool a_absent = false, b_absent = false, a_added = false, b_added = false;
  std::thread a([&] {
    schedule.step("A looks", [&] { a_absent = !registry.has("x"); });
    schedule.step("A adds", [&] { a_added = registry.add("x"); });
  });
  std::thread b([&] {
    schedule.step("B looks", [&] { b_absent = !registry.has("x"); });
    schedule.step("B adds", [&] { b_added = registry.add("x"); });
  });
  a.join();
  b.join();
  ASSERT_TRUE(schedule.followed());
  EXPECT_TRUE(a_absent && b_absent);
  EXPECT_TRUE(b_added);
  EXPECT_FALSE(a_added);
}

}  // namespace
