// SPDX-License-Identifier: Apache-2.0
//
// The few ways a number or a text is laid out in a trace file; FORMAT.md, "Numbers and texts".
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace heddle::trace {

/// The bytes at hand cannot be what they should be. Never leaves trace/: who knows the file's name
/// and the offset turns it into a heddle::Error.
class MalformedBytes : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ByteWriter {
 public:
  void u32(std::uint32_t value);
  void varint(std::uint64_t value);
  /// Zigzag, so that small negative numbers stay short.
  void signed_varint(std::int64_t value);
  void text(std::string_view value);
  /// An index, or kNone as 0.
  void index(std::uint32_t value) { varint(static_cast<std::uint32_t>(value + 1)); }

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  void clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

/// Throws MalformedBytes instead of ever reading past the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  std::uint32_t u32();
  std::uint64_t varint();
  std::uint32_t varint32();
  std::int64_t signed_varint();
  std::string text();
  std::uint32_t index() { return varint32() - 1; }

  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view take(std::uint64_t bytes);
  std::string_view rest_;
};

/// CRC-32 of ISO 3309 (zlib, PNG): a reader in any language has it at hand.
std::uint32_t crc32(std::string_view bytes);

}  // namespace heddle::trace
