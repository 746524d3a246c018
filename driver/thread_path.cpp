// SPDX-License-Identifier: Apache-2.0
#include "driver/thread_path.h"

#include <cstdlib>

#include "abi/channel.h"

namespace heddle::driver {

bool is_flusher(const std::string& path) {
  return path.ends_with('~');
}

std::uint64_t hash_of_path(const std::string& path) {
  std::uint64_t hash = abi::kMainThreadHash;
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
    hash = abi::path_hash(hash, std::strtoull(path.c_str() + dot + 1, nullptr, 10));
  }
  return is_flusher(path) ? abi::path_hash(hash, abi::kFlusherOrdinal) : hash;
}

}  // namespace heddle::driver
