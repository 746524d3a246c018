// SPDX-License-Identifier: Apache-2.0
#include "trace/packed_log.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"

namespace heddle::trace {
namespace {

std::string some_bytes(std::size_t count) {
  std::mt19937 random(7);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() % 40);
  return bytes;
}

TEST(PackedLog, GivesBackWhatWasPacked) {
  for (const std::size_t count : {0u, 1u, 1000u, 1u << 20, (3u << 20) + 5}) {
    const std::string bytes = some_bytes(count);
    const UnpackedLog log = unpack_log(pack_log(bytes), "log");
    EXPECT_TRUE(log.complete);
    EXPECT_TRUE(log.bytes == bytes) << count;
  }
}

TEST(PackedLog, CutAnywhereGivesAPrefix) {
  const std::string bytes = some_bytes((3 << 20) + 5);
  const std::string file = pack_log(bytes);
  std::mt19937 random(8);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t length = 8 + random() % (file.size() - 8);
    const UnpackedLog log = unpack_log(std::string_view(file).substr(0, length), "log");
    ASSERT_FALSE(log.complete);
    ASSERT_TRUE(bytes.starts_with(log.bytes));
  }
}

TEST(PackedLog, DamageIsOneError) {
  const std::string file = pack_log(some_bytes(5000));
  std::mt19937 random(9);
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = file;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    try {
      unpack_log(damaged, "its name");
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::UserMistake);
      EXPECT_NE(std::string(error.what()).find("its name"), std::string::npos);
    }
  }
  EXPECT_THROW(unpack_log(file + "more", "log"), Error);
  EXPECT_THROW(unpack_log("something else", "log"), Error);
}

}  // namespace
}  // namespace heddle::trace
