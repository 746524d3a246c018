// SPDX-License-Identifier: Apache-2.0
//
// A native link, kept so that it can be done again with a difference.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "driver/build/cache.h"

namespace heddle::build {

struct SavedLink {
  std::filesystem::path directory;  // where the linker must run: its inputs are named from here
  std::vector<std::string> words;   // its arguments, output and all
};

/// Keeps the archive the linker wrote for the program with this build-id. `tar` is in `work`.
void save_link(const Cache& cache, const WorkDirectory& work, const std::filesystem::path& tar,
               const std::string& build_id);

/// What was linked under this build-id last, as a number: two links of the same inputs have the
/// same, however the inputs were called and wherever the output went. Nothing: it is not in the
/// cache.
std::optional<std::uint64_t> linked_contents(const Cache& cache, const std::string& build_id);

/// Unpacks the link of `program` into `work`. Throws heddle::Error when it is not there or damaged.
SavedLink load_link(const Cache& cache, const WorkDirectory& work,
                    const std::filesystem::path& program, const std::string& build_id);

}  // namespace heddle::build
