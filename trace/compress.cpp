// SPDX-License-Identifier: Apache-2.0
#include "trace/compress.h"

#include <fmt/format.h>
#include <zstd.h>

#include "base/error.h"

namespace heddle::trace {
namespace {

// Higher levels made traces a few percent smaller and several times slower to write.
constexpr int kCompressionLevel = 3;

}  // namespace

std::string compressed(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kCompressionLevel);
  if (ZSTD_isError(size) != 0) throw defect(fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  packed.resize(size);
  return packed;
}

std::size_t compressed_bound(std::size_t bytes) {
  return ZSTD_compressBound(bytes);
}

bool decompress(std::string_view packed, char* target, std::size_t size) {
  const std::size_t unpacked = ZSTD_decompress(target, size, packed.data(), packed.size());
  return ZSTD_isError(unpacked) == 0 && unpacked == size;
}

}  // namespace heddle::trace
