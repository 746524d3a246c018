// SPDX-License-Identifier: Apache-2.0
#include "trace/chunk.h"

#include <fmt/format.h>

#include "abi/abi.h"
#include "base/error.h"
#include "trace/bytes.h"
#include "trace/compress.h"

namespace heddle::trace {
ChunkWriter::ChunkWriter(std::ostream& out) : out_(out) {
  ByteWriter version;
  version.u32(kTraceVersion);
  version.u32(abi::kVersion);
  std::string header = kTraceMagic + version.bytes();
  ByteWriter checksum;
  checksum.u32(crc32(header));
  out_ << header << checksum.bytes();
}

void ChunkWriter::write(ChunkType type, std::string_view bytes) {
  if (bytes.size() > kMaxChunkBytes)
    throw defect(fmt::format("a record of a trace is longer than {} bytes", kMaxChunkBytes));
  const std::string packed = compressed(bytes);
  ByteWriter header;
  header.u32(static_cast<std::uint32_t>(type));
  header.u32(static_cast<std::uint32_t>(bytes.size()));
  header.u32(static_cast<std::uint32_t>(packed.size()));
  header.u32(crc32(packed));
  header.u32(crc32(header.bytes()));
  out_ << header.bytes() << packed;
}

ChunkReader::ChunkReader(std::string_view file, std::string_view name) : file_(file), name_(name) {
  constexpr std::string_view magic = kTraceMagic;
  if (file.empty())
    throw user_error(
        fmt::format("{}: empty file, not a Heddle trace; `heddle ls` lists the runs", name_));
  if (file.substr(0, magic.size()) != magic)
    throw user_error(fmt::format(
        "{}: not a Heddle trace (it does not begin with {}); `heddle ls` lists the runs", name_,
        magic));
  if (file.size() < kFileHeaderBytes) damaged(file.size(), "the file ends inside its header");
  ByteReader header(file.substr(magic.size()));
  std::uint32_t version = header.u32();
  header.u32();  // The ABI version is for people: events keep their ids in all versions.
  bool intact = header.u32() == crc32(file.substr(0, kFileHeaderBytes - 4));
  // A newer version may have another header, so its checksum does not count.
  if (version > kTraceVersion)
    throw user_error(
        fmt::format("{}: trace of format version {}, this Heddle reads up to {}; update Heddle",
                    name_, version, kTraceVersion));
  if (!intact || version == 0) damaged(0, "wrong checksum of the file header");
  position_ = kFileHeaderBytes;
}

void ChunkReader::damaged(std::uint64_t offset, std::string_view what) const {
  throw user_error(fmt::format(
      "{}: damaged trace at byte {}: {}; take another copy of the file, or make the run again",
      name_, offset, what));
}

std::optional<Chunk> ChunkReader::next() {
  std::string_view rest = file_.substr(position_);
  if (rest.size() < kChunkHeaderBytes) return std::nullopt;
  ByteReader header(rest);
  std::uint32_t type = header.u32();
  std::uint32_t size = header.u32();
  std::uint32_t packed_size = header.u32();
  std::uint32_t checksum = header.u32();
  if (header.u32() != crc32(rest.substr(0, kChunkHeaderBytes - 4)))
    damaged(position_, "wrong checksum of a chunk header");
  if (type < static_cast<std::uint32_t>(ChunkType::Header) ||
      type > static_cast<std::uint32_t>(ChunkType::Stacks))
    damaged(position_, fmt::format("unknown chunk type {}", type));
  if (size > kMaxChunkBytes || packed_size > compressed_bound(kMaxChunkBytes))
    damaged(position_, "a chunk claims to be longer than any chunk is");
  rest.remove_prefix(kChunkHeaderBytes);
  if (rest.size() < packed_size) return std::nullopt;
  std::string_view packed = rest.substr(0, packed_size);
  if (crc32(packed) != checksum) damaged(position_, "wrong checksum of a chunk");

  Chunk chunk{static_cast<ChunkType>(type), position_, std::string(size, '\0')};
  if (!decompress(packed, chunk.bytes.data(), size)) damaged(position_, "a chunk does not unpack");
  position_ += kChunkHeaderBytes + packed_size;
  return chunk;
}

}  // namespace heddle::trace
