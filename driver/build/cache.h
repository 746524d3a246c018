// SPDX-License-Identifier: Apache-2.0
//
// Where Heddle keeps what it needs of every build, outside the source tree:
//
//   links/BUILD-ID.tar.zst            the inputs and the command line of a link
//   variants/BUILD-ID/NAME-…/PROGRAM  derived programs; called after the variant, the pass, where
//                                     libraries are looked for and what was linked: a build-id is
//                                     not enough, since users may give one (saved_link.cpp)
//   opened/BUILD-ID/HASH              libraries that a program opens by itself, a line each
//   locks/                            one of them is held while a variant is derived
//   tmp/                              work in progress; renamed into place when complete
//
// The directory is $HEDDLE_CACHE, else $XDG_CACHE_HOME/heddle, else ~/.cache/heddle. It is bounded:
// when links and variants together exceed $HEDDLE_CACHE_LIMIT megabytes (8192 if unset), what was
// used longest ago goes. Everything in it can be made again by rebuilding the program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::build {

class Cache {
 public:
  explicit Cache(std::filesystem::path root, std::uint64_t limit_bytes);
  static Cache of_user();
  /// Nothing where there is no place for one.
  static std::optional<Cache> if_any();

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path link(std::string_view build_id) const;
  std::filesystem::path variant(std::string_view build_id, std::string_view name,
                                std::string_view program) const;
  /// The one used last of those whose names begin so. Empty: there is none.
  std::filesystem::path latest_variant(std::string_view build_id, std::string_view beginning,
                                       std::string_view program) const;
  std::filesystem::path opened(std::string_view build_id) const;
  std::filesystem::path lock(std::string_view name) const;

  /// Moves a finished file to its place in one step; a reader sees the old one, the new one or
  /// none.
  void publish(const std::filesystem::path& finished, const std::filesystem::path& place) const;

  /// Makes an entry known under another name too; quietly does nothing if it cannot.
  void share(const std::filesystem::path& entry, const std::filesystem::path& other) const;

  /// Marks an entry as used just now.
  void touch(const std::filesystem::path& entry) const;

  /// Removes the oldest entries beyond the limit, and work that was left behind a day ago.
  void evict() const;

  /// The advice every message about an unusable cache ends with.
  std::string advice() const;

 private:
  std::filesystem::path root_;
  std::uint64_t limit_bytes_;
};

/// A directory of its own in tmp/, removed with everything in it.
class WorkDirectory {
 public:
  explicit WorkDirectory(const Cache& cache);
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Held from construction to destruction; other processes wait.
class FileLock {
 public:
  FileLock(const Cache& cache, std::string_view name);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace heddle::build
