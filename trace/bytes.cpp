// SPDX-License-Identifier: Apache-2.0
#include "trace/bytes.h"

#include <array>

namespace heddle::trace {

void ByteWriter::u32(std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<char>(value >> shift));
}

void ByteWriter::varint(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes_.push_back(static_cast<char>(value));
}

void ByteWriter::signed_varint(std::int64_t value) {
  varint((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

void ByteWriter::text(std::string_view value) {
  varint(value.size());
  bytes_.append(value);
}

std::string_view ByteReader::take(std::uint64_t bytes) {
  if (bytes > rest_.size()) throw MalformedBytes("a record runs over the end of its chunk");
  std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::uint32_t ByteReader::u32() {
  std::string_view taken = take(4);
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(taken[i]);
  return value;
}

std::uint64_t ByteReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    auto byte = static_cast<unsigned char>(take(1)[0]);
    // The tenth byte has room for one bit only.
    if (shift == 63 && byte > 1) break;
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw MalformedBytes("a number does not fit in 64 bits");
}

std::uint32_t ByteReader::varint32() {
  std::uint64_t value = varint();
  if (value > 0xffffffff) throw MalformedBytes("a number does not fit in 32 bits");
  return static_cast<std::uint32_t>(value);
}

std::int64_t ByteReader::signed_varint() {
  std::uint64_t value = varint();
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

std::string ByteReader::text() {
  std::uint64_t bytes = varint();
  return std::string(take(bytes));
}

std::uint32_t crc32(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? 0xedb88320u : 0u);
      entries[i] = value;
    }
    return entries;
  }();
  std::uint32_t sum = 0xffffffff;
  for (char c : bytes) sum = table[(sum ^ static_cast<unsigned char>(c)) & 0xff] ^ (sum >> 8);
  return ~sum;
}

}  // namespace heddle::trace
