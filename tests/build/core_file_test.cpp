// SPDX-License-Identifier: Apache-2.0
#include "ir/core_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/error.h"
#include "core_sample.h"
#include "ir/stopped_process.h"

namespace heddle::ir {
namespace {

using testing::HasSubstr;

std::string error_in(const std::string& bytes) {
  try {
    const CoreFile core(bytes, "sample");
    return "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::UserMistake);
    return error.what();
  }
}

TEST(CoreFile, TellsThreadsFilesAndMemory) {
  const std::string bytes = sample::core();
  const CoreFile core(bytes, "sample");
  ASSERT_EQ(core.threads().size(), 2u);
  EXPECT_EQ(core.threads()[0].id, 7);
  EXPECT_EQ(core.threads()[1].registers.value[Registers::Rip], sample::kProgramAt + 0x200);
  EXPECT_EQ(core.threads()[1].registers.value[Registers::Rsp], sample::kStackAt);
  EXPECT_EQ(core.signal(), 11);
  ASSERT_NE(core.program(), nullptr);
  EXPECT_EQ(core.program()->file, "/bin/prog");
  std::string read(64, '\0');
  read.resize(core.read(sample::kStackAt + 4, read));
  EXPECT_EQ(read, "bytes on the stack");
  EXPECT_EQ(core.read(sample::kStackAt - 1, read), 0u);
  EXPECT_EQ(core.read(0, read), 0u);
}

TEST(CoreFile, RefusesWhatIsCutOffAnywhere) {
  const std::string whole = sample::core();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    ASSERT_THAT(error_in(whole.substr(0, length)), HasSubstr("cannot be used as a core file"))
        << length;
  }
}

TEST(CoreFile, SurvivesAnyDamage) {
  const std::string whole = sample::core();
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = whole;
    for (auto left = 1 + random() % 4; left > 0; --left) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    error_in(damaged);
  }
}

TEST(CoreFile, IsTheSeedOfItsFuzzer) {
  const std::filesystem::path file = HEDDLE_CORE_SEED;
  if (std::getenv("HEDDLE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << sample::core();
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream seed;
  seed << in.rdbuf();
  EXPECT_EQ(seed.view(), sample::core());
}

TEST(Maps, NameFilesOnly) {
  const auto mappings = parse_maps(
      "555555554000-555555555000 r-xp 00001000 08:01 131 /opt/a program\n"
      "555555556000-555555557000 rw-p 00000000 00:00 0 \n"
      "7ffff7fc0000-7ffff7fc4000 r--p 00000000 00:00 0 [vvar]\n"
      "nonsense\n7ffff7fc0000-\n"
      "7ffff7fd0000-7ffff7fd4000 r--p 00002000 08:01 7 /lib/ld.so");
  ASSERT_EQ(mappings.size(), 2u);
  EXPECT_EQ(mappings[0].file, "/opt/a program");
  EXPECT_EQ(mappings[0].begin, 0x555555554000u);
  EXPECT_EQ(mappings[0].offset, 0x1000u);
  EXPECT_EQ(mappings[1].file, "/lib/ld.so");
  EXPECT_EQ(mappings[1].end, 0x7ffff7fd4000u);
}

}  // namespace
}  // namespace heddle::ir
