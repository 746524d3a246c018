// SPDX-License-Identifier: Apache-2.0
//
// Threads by birth, as text ("t0.2.1", a flusher's with '~') and as the runtime knows them.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::driver {

bool is_flusher(const std::string& path);
std::uint64_t hash_of_path(const std::string& path);

}  // namespace heddle::driver
