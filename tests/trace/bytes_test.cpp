// SPDX-License-Identifier: Apache-2.0
#include "trace/bytes.h"

#include <gtest/gtest.h>

namespace heddle::trace {
namespace {

TEST(Bytes, LaysNumbersOutAsTheFormatSays) {
  ByteWriter out;
  out.varint(300);
  out.signed_varint(-1);
  out.signed_varint(1);
  out.index(0xffffffff);
  out.index(5);
  out.text("ab");
  out.u32(0x01020304);
  EXPECT_EQ(out.bytes(), std::string("\xac\x02\x01\x02\x00\x06\x02"
                                     "ab\x04\x03\x02\x01",
                                     13));
}

TEST(Bytes, NeverReadsPastTheEnd) {
  EXPECT_EQ(ByteReader("\x02"
                       "ab")
                .text(),
            "ab");
  EXPECT_THROW(ByteReader("\x03"
                          "ab")
                   .text(),
               MalformedBytes);
  EXPECT_THROW(ByteReader("").varint(), MalformedBytes);
  EXPECT_THROW(ByteReader("\xff").varint(), MalformedBytes);
  EXPECT_THROW(ByteReader("abc").u32(), MalformedBytes);
}

TEST(Bytes, NoticesNumbersThatDoNotFit) {
  std::string nine(9, '\xff');
  EXPECT_EQ(ByteReader(nine + '\x01').varint(), UINT64_MAX);
  EXPECT_THROW(ByteReader(nine + '\x02').varint(), MalformedBytes);
  EXPECT_THROW(ByteReader(nine + "\xff\x01").varint(), MalformedBytes);
  EXPECT_EQ(ByteReader("\xff\xff\xff\xff\x0f").varint32(), UINT32_MAX);
  EXPECT_THROW(ByteReader("\xff\xff\xff\xff\x1f").varint32(), MalformedBytes);
}

TEST(Bytes, ComputesTheUsualChecksum) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
}

}  // namespace
}  // namespace heddle::trace
