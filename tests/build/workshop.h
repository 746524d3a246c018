// SPDX-License-Identifier: Apache-2.0
//
// A scratch directory with a cache of its own, in which a test builds small programs.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace heddle::build {

class Workshop : public testing::Test {
 protected:
  Workshop();
  ~Workshop() override;

  struct Result {
    int status;
    std::string output;
  };

  /// Writes a file below the source directory.
  std::filesystem::path write(const std::string& name, const std::string& text) const;

  /// Runs a shell command in the source directory; $CC and $CXX are Heddle's compilers.
  Result shell(const std::string& command) const;

  /// The same, which must succeed; returns its output.
  std::string must(const std::string& command) const;

  /// Derives the full variant and runs it under the fake runtime.
  Result run_variant(const std::filesystem::path& program, const std::string& arguments = "") const;

  /// Files below `directory`, relative to it, sorted.
  static std::vector<std::string> files_below(const std::filesystem::path& directory);

  /// Saved links in the cache.
  std::vector<std::string> links() const { return files_below(cache_ / "links"); }

  std::filesystem::path root_;
  std::filesystem::path source_;
  std::filesystem::path cache_;
};

/// Expects `action` to throw a heddle::Error of this kind, with these words in it.
template <typename Action>
void expect_error(ExitCode code, const std::string& words, const Action& action) {
  try {
    action();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr(words));
  }
}

/// Prints its thread count and a sum; several accesses of each kind.
inline constexpr char kCounterProgram[] = R"(
#include <pthread.h>
#include <stdio.h>
int counter;
static void *work(void *unused) { counter += 3; return unused; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  counter++;
  printf("counter %d\n", counter);
  return 0;
}
)";

}  // namespace heddle::build
