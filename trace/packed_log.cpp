// SPDX-License-Identifier: Apache-2.0
#include "trace/packed_log.h"

#include <fmt/format.h>

#include "base/error.h"
#include "trace/bytes.h"
#include "trace/compress.h"

namespace heddle::trace {
namespace {

/// Pieces, unpacked: a forged length costs at most this much memory.
constexpr std::size_t kPiece = 1u << 20;
constexpr std::size_t kFileHeader = 16;
constexpr std::size_t kPieceHeader = 16;

std::string four_bytes(std::uint32_t value) {
  ByteWriter out;
  out.u32(value);
  return out.bytes();
}

std::string packed_piece(std::string_view bytes) {
  const std::string packed = compressed(bytes);
  std::string header = four_bytes(static_cast<std::uint32_t>(bytes.size())) +
                       four_bytes(static_cast<std::uint32_t>(packed.size())) +
                       four_bytes(crc32(packed));
  header += four_bytes(crc32(header));
  return header + packed;
}

[[noreturn]] void damaged(std::string_view name, std::size_t offset, std::string_view what) {
  throw user_error(
      fmt::format("{}: damaged log at byte {}: {}; take another copy of the file, or record again",
                  name, offset, what));
}

}  // namespace

std::string pack_log(std::string_view bytes) {
  std::string file = kPackedLogMagic + four_bytes(kPackedLogVersion);
  file += four_bytes(crc32(file));
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    file += packed_piece(bytes.substr(at, kPiece));
  }
  return file + packed_piece({});  // an empty piece: nothing is missing
}

bool is_packed_log(std::string_view file) {
  return file.starts_with(kPackedLogMagic);
}

UnpackedLog unpack_log(std::string_view file, std::string_view name) {
  const bool is_begun = std::string_view(kPackedLogMagic).starts_with(file);
  if (is_begun) return {{}, false};
  if (!is_packed_log(file)) {
    throw user_error(fmt::format("{}: not a packed log of Heddle (it does not begin with {})", name,
                                 kPackedLogMagic));
  }
  if (file.size() < kFileHeader) return {{}, false};
  ByteReader header(file.substr(sizeof kPackedLogMagic - 1));
  const std::uint32_t version = header.u32();
  if (version > kPackedLogVersion) {
    throw user_error(fmt::format(
        "{}: packed log of format version {}, this Heddle reads up to {}; update Heddle", name,
        version, kPackedLogVersion));
  }
  if (header.u32() != crc32(file.substr(0, kFileHeader - 4))) damaged(name, 0, "wrong checksum");

  UnpackedLog log;
  for (std::size_t at = kFileHeader;;) {
    const std::string_view rest = file.substr(at);
    if (rest.size() < kPieceHeader) return {std::move(log.bytes), false};
    ByteReader piece(rest);
    const std::uint32_t size = piece.u32();
    const std::uint32_t packed_size = piece.u32();
    const std::uint32_t checksum = piece.u32();
    if (piece.u32() != crc32(rest.substr(0, kPieceHeader - 4))) {
      damaged(name, at, "wrong checksum of a piece's header");
    }
    if (size > kPiece || packed_size > compressed_bound(kPiece)) {
      damaged(name, at, "a piece claims to be longer than any is");
    }
    if (rest.size() - kPieceHeader < packed_size) return {std::move(log.bytes), false};
    const std::string_view packed = rest.substr(kPieceHeader, packed_size);
    if (crc32(packed) != checksum) damaged(name, at, "wrong checksum of a piece");
    const std::size_t before = log.bytes.size();
    log.bytes.resize(before + size);
    if (!decompress(packed, log.bytes.data() + before, size)) {
      damaged(name, at, "a piece does not unpack");
    }
    at += kPieceHeader + packed_size;
    if (size == 0) {
      if (at != file.size()) damaged(name, at, "bytes behind the end");
      return log;
    }
  }
}

}  // namespace heddle::trace
