// SPDX-License-Identifier: Apache-2.0
//
// The container of a trace file: a file header, then compressed chunks that each carry their
// lengths and checksums. Knows nothing of what the chunks hold (records.h does).
//
// The header of a chunk has a checksum of its own: otherwise a flipped bit in a length would look
// like a file that was cut off, which is no error.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace heddle::trace {

inline constexpr char kTraceMagic[] = "HEDTRACE";
inline constexpr std::uint32_t kTraceVersion = 3;
inline constexpr std::size_t kFileHeaderBytes = 20;
inline constexpr std::size_t kChunkHeaderBytes = 20;

/// No chunk is longer than this when unpacked. A forged length therefore costs at most this much
/// memory; a longer record cannot be written.
inline constexpr std::uint32_t kMaxChunkBytes = 1u << 20;

/// Stored, never renumber. In the order in which they appear in a file, but for Steps and
/// Stacks, which come behind the events.
enum class ChunkType : std::uint32_t {
  Header = 1,
  Threads = 2,
  Sites = 3,
  Objects = 4,
  Events = 5,
  Outcome = 6,
  Footer = 7,
  Steps = 8,   // from version 2 on
  Stacks = 9,  // from version 3 on
};

struct Chunk {
  ChunkType type;
  std::uint64_t offset;  // in the file, for messages
  std::string bytes;     // unpacked
};

class ChunkWriter {
 public:
  /// Writes the file header at once.
  explicit ChunkWriter(std::ostream& out);
  /// Throws a defect when `bytes` is longer than kMaxChunkBytes.
  void write(ChunkType type, std::string_view bytes);

 private:
  std::ostream& out_;
};

class ChunkReader {
 public:
  /// Throws user_error when `file` does not begin with the header of a trace this Heddle reads.
  ChunkReader(std::string_view file, std::string_view name);
  /// Nothing when no whole chunk follows: at the end, or where the file was cut off. Throws
  /// user_error when a checksum does not match.
  std::optional<Chunk> next();
  bool at_end() const { return position_ == file_.size(); }

  [[noreturn]] void damaged(std::uint64_t offset, std::string_view what) const;

 private:
  std::string_view file_;
  std::string name_;
  std::uint64_t position_ = 0;
};

}  // namespace heddle::trace
