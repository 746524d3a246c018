// SPDX-License-Identifier: Apache-2.0
#include "driver/build/link_archive.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace heddle::build {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 512;
// Links happen all the time, and their user waits: fast rather than small.
constexpr int kCompressionLevel = 1;
// Extended headers carry one path; anything longer is damage.
constexpr std::uint64_t kMaxExtendedHeader = 1 << 20;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Error file_error(const char* action, const fs::path& file, int reason) {
  return environment_error(
      fmt::format("cannot {} {}: {}", action, file.string(), std::strerror(reason)));
}

File open_file(const fs::path& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode));
  if (!file) throw file_error(*mode == 'r' ? "read" : "write", path, errno);
  return file;
}

void write_all(std::FILE* file, const void* data, std::size_t size, const fs::path& path) {
  if (std::fwrite(data, 1, size, file) != size) throw file_error("write", path, errno);
}

void close_written(File file, const fs::path& path) {
  if (std::fclose(file.release()) != 0) throw file_error("write", path, errno);
}

/// The decompressed bytes of an archive, in order.
class Stream {
 public:
  explicit Stream(const fs::path& path)
      : path_(path), file_(open_file(path, "rb")), context_(ZSTD_createDStream()) {
    buffer_.resize(ZSTD_DStreamInSize());
  }

  /// Fills all of `target`, or throws.
  void read(char* target, std::size_t size) {
    ZSTD_outBuffer out{target, size, 0};
    while (out.pos < out.size) {
      if (in_.pos == in_.size) refill();
      const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in_);
      if (ZSTD_isError(result) != 0) throw DamagedArchive(ZSTD_getErrorName(result));
    }
  }

 private:
  void refill() {
    const std::size_t count = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
    if (count == 0) {
      if (std::ferror(file_.get()) != 0) throw file_error("read", path_, errno);
      throw DamagedArchive("it is cut short");
    }
    in_ = {buffer_.data(), count, 0};
  }

  struct FreeContext {
    void operator()(ZSTD_DStream* context) const { ZSTD_freeDStream(context); }
  };
  fs::path path_;
  File file_;
  std::unique_ptr<ZSTD_DStream, FreeContext> context_;
  std::vector<char> buffer_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
};

/// What the header of a file says.
struct Header {
  char type;
  std::uint64_t size;
  std::string name;
};

using Block = std::array<char, kBlock>;

std::string_view field(const Block& block, std::size_t at, std::size_t size) {
  const std::string_view all(block.data() + at, size);
  return all.substr(0, all.find('\0'));
}

std::uint64_t octal(std::string_view text) {
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    if (c < '0' || c > '7') throw DamagedArchive("a size in it is no number");
    value = value * 8 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

// Nothing at the end of the archive.
std::optional<Header> next_header(Stream& stream) {
  Block block;
  stream.read(block.data(), block.size());
  if (block == Block{}) return std::nullopt;
  if (field(block, 257, 5) != "ustar") throw DamagedArchive("a header in it is no tar header");
  std::string name(field(block, 0, 100));
  if (const std::string_view prefix = field(block, 345, 155); !prefix.empty()) {
    name = fmt::format("{}/{}", prefix, name);
  }
  return Header{block[156], octal(field(block, 124, 12)), std::move(name)};
}

std::uint64_t padded(std::uint64_t size) {
  return (size + kBlock - 1) / kBlock * kBlock;
}

// "LENGTH path=NAME\n", the only record the linker writes.
std::string extended_path(Stream& stream, std::uint64_t size) {
  if (size > kMaxExtendedHeader) throw DamagedArchive("an extended header in it is too long");
  std::string text(padded(size), '\0');
  stream.read(text.data(), text.size());
  text.resize(size);
  constexpr std::string_view kKey = " path=";
  const std::size_t key = text.find(kKey);
  const std::size_t end = text.find('\n');
  if (key == std::string::npos || end == std::string::npos || end < key) {
    throw DamagedArchive("an extended header in it has no path");
  }
  return text.substr(key + kKey.size(), end - key - kKey.size());
}

fs::path place_of(const fs::path& directory, const std::string& name) {
  const fs::path relative(name);
  bool leads_out = relative.empty() || relative.is_absolute();
  for (const fs::path& part : relative) leads_out = leads_out || part == "..";
  if (leads_out) throw DamagedArchive(fmt::format("it names the file '{}'", name));
  return directory / relative;
}

/// The next file's header, with its whole name; its contents follow. Nothing at the end.
std::optional<Header> next_file(Stream& stream) {
  std::string long_name;
  while (std::optional<Header> header = next_header(stream)) {
    if (header->type == 'x') {
      long_name = extended_path(stream, header->size);
      continue;
    }
    if (header->type != '0' && header->type != '\0') {
      throw DamagedArchive(fmt::format("'{}' in it is no file", header->name));
    }
    if (!long_name.empty()) header->name = std::move(long_name);
    return header;
  }
  return std::nullopt;
}

using TakePart = std::function<void(std::string_view)>;

void read_contents(Stream& stream, std::uint64_t size, const TakePart& take) {
  std::vector<char> part(std::min<std::uint64_t>(padded(size), 1 << 20));
  std::uint64_t left = size;
  for (std::uint64_t to_read = padded(size); to_read > 0;) {
    const std::size_t count = std::min<std::uint64_t>(to_read, part.size());
    stream.read(part.data(), count);
    const std::size_t held = std::min<std::uint64_t>(count, left);
    take({part.data(), held});
    to_read -= count;
    left -= held;
  }
}

void unpack_file(Stream& stream, const Header& header, const fs::path& place) {
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  if (error) throw file_error("create", place.parent_path(), error.value());
  File file = open_file(place, "wb");
  read_contents(stream, header.size, [&](std::string_view part) {
    write_all(file.get(), part.data(), part.size(), place);
  });
  close_written(std::move(file), place);
}

/// zstd calls this a skippable frame.
struct Label {
  static constexpr std::uint32_t kMagic = 0x184d2a5e;  // of sixteen, one that is ours
  std::uint32_t magic = kMagic;
  std::uint32_t size = sizeof value;
  std::uint64_t value = 0;
};

}  // namespace

void compress_archive(const fs::path& tar, const fs::path& compressed) {
  const File from = open_file(tar, "rb");
  File to = open_file(compressed, "wb");
  struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kCompressionLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);  // damage must not go unnoticed

  std::vector<char> in_buffer(ZSTD_CStreamInSize());
  std::vector<char> out_buffer(ZSTD_CStreamOutSize());
  bool at_end = false;
  while (!at_end) {
    const std::size_t count = std::fread(in_buffer.data(), 1, in_buffer.size(), from.get());
    if (std::ferror(from.get()) != 0) throw file_error("read", tar, errno);
    at_end = count < in_buffer.size();
    ZSTD_inBuffer in{in_buffer.data(), count, 0};
    std::size_t pending = 0;
    do {
      ZSTD_outBuffer out{out_buffer.data(), out_buffer.size(), 0};
      pending =
          ZSTD_compressStream2(context.get(), &out, &in, at_end ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(pending) != 0) throw defect(ZSTD_getErrorName(pending));
      write_all(to.get(), out_buffer.data(), out.pos, compressed);
    } while (at_end ? pending != 0 : in.pos < in.size);
  }
  close_written(std::move(to), compressed);
}

void unpack_archive(const fs::path& compressed, const fs::path& directory) {
  Stream stream(compressed);
  while (const std::optional<Header> header = next_file(stream)) {
    unpack_file(stream, *header, place_of(directory, header->name));
  }
}

void visit_archive(const fs::path& compressed, const MemberVisitor& visit) {
  Stream stream(compressed);
  while (const std::optional<Header> header = next_file(stream)) {
    std::string contents;
    read_contents(stream, header->size, [&](std::string_view part) { contents += part; });
    visit(header->name, contents);
  }
}

void add_label(const fs::path& compressed, std::uint64_t value) {
  File file = open_file(compressed, "ab");
  const Label label{.value = value};
  write_all(file.get(), &label, sizeof label, compressed);
  close_written(std::move(file), compressed);
}

std::optional<std::uint64_t> read_label(const fs::path& compressed) {
  const File file(std::fopen(compressed.c_str(), "rb"));
  Label label;
  if (!file || std::fseek(file.get(), -static_cast<long>(sizeof label), SEEK_END) != 0 ||
      std::fread(&label, sizeof label, 1, file.get()) != 1 || label.magic != Label::kMagic) {
    return std::nullopt;
  }
  return label.value;
}

}  // namespace heddle::build
