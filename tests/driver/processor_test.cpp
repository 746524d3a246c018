// SPDX-License-Identifier: Apache-2.0
#include "driver/processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace heddle::driver {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(Processor, CanBeHidden) {
  EXPECT_THAT(plain_processor(), StartsWith("GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX,-AVX2,"));
  EXPECT_THAT(chosen_by({"HOME=/", plain_processor()}), IsEmpty());
}

TEST(Processor, IsWhatLibcSees) {
  const std::vector<std::string> names = chosen_by({});
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "an old processor";
  EXPECT_THAT(names, Contains("AVX2"));
  EXPECT_THAT(names, Contains("SSE4_2"));
  const std::vector<std::string> fewer =
      chosen_by({"GLIBC_TUNABLES=glibc.malloc.check=1:glibc.cpu.hwcaps=-AVX2,-AVX:x=-SSE4_2"});
  EXPECT_THAT(fewer, Not(Contains("AVX2")));
  EXPECT_THAT(fewer, Not(Contains("AVX")));
  EXPECT_THAT(fewer, Contains("SSE4_2"));
  EXPECT_EQ(fewer.size() + 2, names.size());
}

TEST(Processor, ThatLacksSomethingIsRefused) {
  refuse_lesser_processor(chosen_by({}));
  try {
    refuse_lesser_processor({"NO_SUCH_THING"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Environment);
    EXPECT_THAT(error.what(), HasSubstr("a processor with NO_SUCH_THING, which"));
    EXPECT_THAT(error.what(), HasSubstr("-AVX2"));
  }
}

}  // namespace
}  // namespace heddle::driver
