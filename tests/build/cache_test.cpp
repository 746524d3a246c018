// SPDX-License-Identifier: Apache-2.0
#include "driver/build/cache.h"

#include <fstream>

#include "tests/build/workshop.h"

namespace heddle::build {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class CacheTest : public Workshop {
 protected:
  // `age` hours old.
  void add(const fs::path& place, std::size_t bytes, int age) {
    fs::create_directories(place.parent_path());
    std::ofstream(place) << std::string(bytes, 'x');
    fs::last_write_time(place, fs::file_time_type::clock::now() - std::chrono::hours(age));
  }
};

TEST_F(CacheTest, WhatWasUsedLongestAgoGoesFirst) {
  const Cache cache(cache_, 2500);
  add(cache.link("old"), 1000, 3);
  add(cache.variant("old", "full", "program"), 1000, 2);
  add(cache.link("new"), 1000, 1);
  cache.evict();
  EXPECT_THAT(files_below(cache_), ElementsAre("links/new.tar.zst", "variants/old/full/program"));
  cache.touch(cache.variant("old", "full", "program"));
  add(cache.link("newest"), 1000, 0);
  cache.evict();
  EXPECT_THAT(files_below(cache_),
              ElementsAre("links/newest.tar.zst", "variants/old/full/program"));
}

TEST_F(CacheTest, TheNewestStaysHoweverBig) {
  const Cache cache(cache_, 10);
  add(cache.variant("id", "full", "program"), 1000, 2);
  add(cache.link("id"), 1000, 1);
  cache.evict();
  EXPECT_THAT(files_below(cache_), ElementsAre("links/id.tar.zst"));
  EXPECT_FALSE(fs::exists(cache_ / "variants/id"));
}

TEST_F(CacheTest, AbandonedWorkIsRemovedAfterADay) {
  const Cache cache(cache_, 10000);
  fs::create_directories(cache_ / "tmp/work.old");
  add(cache_ / "tmp/work.old/link.tar", 10, 30);
  fs::last_write_time(cache_ / "tmp/work.old",
                      fs::file_time_type::clock::now() - std::chrono::hours(30));
  const WorkDirectory fresh(cache);
  cache.evict();
  EXPECT_FALSE(fs::exists(cache_ / "tmp/work.old"));
  EXPECT_TRUE(fs::exists(fresh.path()));
}

TEST_F(CacheTest, IsFoundWhereTheEnvironmentSays) {
  EXPECT_EQ(Cache::of_user().root(), cache_);
  ::setenv("HEDDLE_CACHE_LIMIT", "many", 1);
  expect_error(ExitCode::UserMistake, "HEDDLE_CACHE_LIMIT=many", [] { Cache::of_user(); });
  ::unsetenv("HEDDLE_CACHE_LIMIT");
}

TEST_F(CacheTest, LimitAppliesToLinksAsTheyAreMade) {
  ::setenv("HEDDLE_CACHE_LIMIT", "0", 1);
  for (const char* name : {"a", "b", "c"}) {
    write(std::string(name) + ".c",
          "int main(void) { return sizeof(\"" + std::string(name) + "\"); }");
    must("$CC " + std::string(name) + ".c -o " + name);
    EXPECT_EQ(links().size(), 1u);
  }
  ::unsetenv("HEDDLE_CACHE_LIMIT");
}

}  // namespace
}  // namespace heddle::build
