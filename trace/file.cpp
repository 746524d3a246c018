// SPDX-License-Identifier: Apache-2.0
#include "trace/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.h"

namespace heddle::trace {

std::string read_file(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::string message = fmt::format("cannot read {}: {}", path.string(), std::strerror(errno));
    if (errno == ENOENT || errno == ENOTDIR) throw user_error(message);
    throw environment_error(message);
  }
  // Opening a directory succeeds; reading from it throws, as reading from a bad disk does.
  try {
    in.exceptions(std::ios::badbit);
    constexpr std::size_t kAtOnce = std::size_t{1} << 20U;
    std::string bytes;
    while (in) {
      const std::size_t before = bytes.size();
      bytes.resize(before + kAtOnce);
      in.read(bytes.data() + before, kAtOnce);
      bytes.resize(before + static_cast<std::size_t>(in.gcount()));
    }
    return bytes;
  } catch (const std::ios_base::failure& failure) {
    throw environment_error(
        fmt::format("cannot read {}: {}", path.string(), failure.code().message()));
  }
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (out) out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (out) out.close();
  if (!out)
    throw environment_error(fmt::format("cannot write {}: {}; free space or make it writable",
                                        path.string(), std::strerror(errno)));
}

}  // namespace heddle::trace
