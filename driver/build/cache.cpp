// SPDX-License-Identifier: Apache-2.0
#include "driver/build/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <system_error>
#include <vector>

#include "base/error.h"

namespace heddle::build {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMegabyte = 1024 * 1024;
constexpr std::uint64_t kDefaultLimitMegabytes = 8192;
constexpr std::chrono::hours kAbandonedAfter{24};
// Lock files are never removed (removing one that somebody waits for would break the lock), so
// there is a fixed number of them; two programs that share one merely wait for each other.
constexpr unsigned kLocks = 64;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Empty: there is none.
fs::path user_directory() {
  if (const std::string named = environment("HEDDLE_CACHE"); !named.empty()) return named;
  if (const std::string base = environment("XDG_CACHE_HOME"); !base.empty()) {
    return fs::path(base) / "heddle";
  }
  if (const std::string home = environment("HOME"); !home.empty()) {
    return fs::path(home) / ".cache" / "heddle";
  }
  return {};
}

std::uint64_t user_limit() {
  const std::string text = environment("HEDDLE_CACHE_LIMIT");
  if (text.empty()) return kDefaultLimitMegabytes * kMegabyte;
  char* end = nullptr;
  errno = 0;
  const std::uint64_t megabytes = std::strtoull(text.c_str(), &end, 10);
  if (errno != 0 || *end != '\0' || megabytes > UINT64_MAX / kMegabyte) {
    throw user_error(
        fmt::format("HEDDLE_CACHE_LIMIT={} is not a number of megabytes; try 8192", text));
  }
  return megabytes * kMegabyte;
}

void make_directory(const Cache& cache, const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    throw environment_error(fmt::format("cannot create {}: {}; {}", directory.string(),
                                        error.message(), cache.advice()));
  }
}

struct Entry {
  fs::path path;
  std::uint64_t bytes;
  fs::file_time_type used;
};

// Other processes add and remove entries meanwhile: whatever vanishes is skipped.
std::vector<Entry> entries_below(const fs::path& directory) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (!at->is_regular_file(gone) || gone) continue;
    const std::uint64_t bytes = at->file_size(gone);
    if (gone) continue;
    const fs::file_time_type used = at->last_write_time(gone);
    if (!gone) entries.push_back({at->path(), bytes, used});
  }
  return entries;
}

void remove_abandoned(const fs::path& directory) {
  const auto limit = fs::file_time_type::clock::now() - kAbandonedAfter;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (at->last_write_time(gone) < limit && !gone) fs::remove_all(at->path(), gone);
  }
}

}  // namespace

Cache::Cache(fs::path root, std::uint64_t limit_bytes)
    : root_(std::move(root)), limit_bytes_(limit_bytes) {}

std::optional<Cache> Cache::if_any() {
  const fs::path directory = user_directory();
  if (directory.empty()) return std::nullopt;
  return Cache(fs::absolute(directory), user_limit());
}

Cache Cache::of_user() {
  if (std::optional<Cache> cache = if_any()) return *std::move(cache);
  throw environment_error(
      "there is no place for Heddle's cache: HOME is not set; set HEDDLE_CACHE to a directory");
}

fs::path Cache::link(std::string_view build_id) const {
  return root_ / "links" / fmt::format("{}.tar.zst", build_id);
}

fs::path Cache::variant(std::string_view build_id, std::string_view name,
                        std::string_view program) const {
  return root_ / "variants" / build_id / name / program;
}

fs::path Cache::latest_variant(std::string_view build_id, std::string_view beginning,
                               std::string_view program) const {
  const std::vector<Entry> all = entries_below(root_ / "variants" / build_id);
  const Entry* latest = nullptr;
  for (const Entry& entry : all) {
    if (entry.path.filename() != program) continue;
    if (!entry.path.parent_path().filename().string().starts_with(beginning)) continue;
    if (latest == nullptr || latest->used < entry.used) latest = &entry;
  }
  return latest == nullptr ? fs::path() : latest->path;
}

fs::path Cache::opened(std::string_view build_id) const {
  return root_ / "opened" / build_id;
}

fs::path Cache::lock(std::string_view name) const {
  return root_ / "locks" / std::to_string(std::hash<std::string_view>{}(name) % kLocks);
}

void Cache::publish(const fs::path& finished, const fs::path& place) const {
  make_directory(*this, place.parent_path());
  std::error_code error;
  fs::rename(finished, place, error);
  if (error) {
    throw environment_error(
        fmt::format("cannot write {}: {}; {}", place.string(), error.message(), advice()));
  }
}

void Cache::share(const fs::path& entry, const fs::path& other) const {
  std::error_code ignored;
  if (!fs::exists(other, ignored)) fs::create_hard_link(entry, other, ignored);
}

void Cache::touch(const fs::path& entry) const {
  std::error_code ignored;  // a read-only cache serves all the same
  fs::last_write_time(entry, fs::file_time_type::clock::now(), ignored);
}

void Cache::evict() const {
  remove_abandoned(root_ / "tmp");
  std::vector<Entry> entries = entries_below(root_ / "links");
  for (Entry& variant : entries_below(root_ / "variants")) entries.push_back(std::move(variant));
  std::uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  std::ranges::sort(entries, {}, &Entry::used);
  // The newest entry stays even if it alone is too big: somebody is about to use it.
  for (std::size_t i = 0; i + 1 < entries.size() && total > limit_bytes_; ++i) {
    std::error_code ignored;
    // Somebody may have come meanwhile who is about to use it.
    if (fs::last_write_time(entries[i].path, ignored) != entries[i].used) continue;
    if (!fs::remove(entries[i].path, ignored)) continue;
    total -= entries[i].bytes;
    // The directories of a variant; those that still hold something refuse to go.
    fs::remove(entries[i].path.parent_path(), ignored);
    fs::remove(entries[i].path.parent_path().parent_path(), ignored);
  }
}

std::string Cache::advice() const {
  return fmt::format(
      "Heddle's cache is {}: make room there and make it writable, or set "
      "HEDDLE_CACHE to another directory",
      root_.string());
}

WorkDirectory::WorkDirectory(const Cache& cache) {
  make_directory(cache, cache.root() / "tmp");
  std::string pattern = (cache.root() / "tmp" / "work.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw environment_error(
        fmt::format("cannot create {}: {}; {}", pattern, std::strerror(errno), cache.advice()));
  }
  path_ = pattern;
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

FileLock::FileLock(const Cache& cache, std::string_view name) {
  const fs::path file = cache.lock(name);
  make_directory(cache, file.parent_path());
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  int result = descriptor_ < 0 ? -1 : 0;
  if (descriptor_ >= 0) {
    do {
      result = ::flock(descriptor_, LOCK_EX);
    } while (result != 0 && errno == EINTR);
  }
  if (result != 0) {
    const int reason = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw environment_error(fmt::format("cannot lock {}: {}; {}", file.string(),
                                        std::strerror(reason), cache.advice()));
  }
}

FileLock::~FileLock() {
  ::close(descriptor_);
}

}  // namespace heddle::build
