// SPDX-License-Identifier: Apache-2.0
//
// The archive the linker writes for --reproduce (a tar file), kept compressed with zstd. Read here
// rather than by tar(1): a damaged entry of the cache must be told from a full disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

namespace heddle::build {

/// The archive is not what was once written.
class DamagedArchive : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws heddle::Error if reading or writing fails.
void compress_archive(const std::filesystem::path& tar, const std::filesystem::path& compressed);

/// Unpacks below `directory`, refusing names that would lead out of it. Throws DamagedArchive, or
/// heddle::Error if writing fails.
void unpack_archive(const std::filesystem::path& compressed,
                    const std::filesystem::path& directory);

/// Told of every file in the archive, in order: its name there, and what it holds. Throws as above.
using MemberVisitor = std::function<void(const std::string& name, const std::string& contents)>;
void visit_archive(const std::filesystem::path& compressed, const MemberVisitor& visit);

/// A number that is kept behind an archive, where who unpacks it does not look.
void add_label(const std::filesystem::path& compressed, std::uint64_t label);
std::optional<std::uint64_t> read_label(const std::filesystem::path& compressed);

}  // namespace heddle::build
