// SPDX-License-Identifier: Apache-2.0
#include "driver/recording_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace heddle::driver {
namespace {

constexpr std::uint64_t kChunksAlignment = 4096;
/// What stands before the chunks, generously.
constexpr std::uint64_t kSlack = 1u << 20;

Error cannot_write(const std::filesystem::path& path) {
  return environment_error(
      fmt::format("cannot write the log {}: {}; free space, or set HEDDLE_DIR to another directory",
                  path.string(), std::strerror(errno)));
}

/// Writing behind this limit would end the process.
void refuse_above_limit(const std::filesystem::path& path, std::uint64_t capacity) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  if (limit.rlim_cur == RLIM_INFINITY || capacity + kSlack <= limit.rlim_cur) return;
  throw environment_error(fmt::format(
      "files may not become longer than {} bytes here (ulimit -f), and the log {} may; raise the "
      "limit, or lower the bound: heddle record --max-log MIB",
      limit.rlim_cur, path.string()));
}

}  // namespace

std::uint64_t used_chunk_bytes(const abi::RecordingHeader& header) {
  const std::uint64_t room = abi::segment_bytes(header.capacity);
  const std::uint64_t second = std::min(header.segments[1].used, room);
  return second > 0 ? room + second : std::min(header.segments[0].used, room);
}

std::filesystem::path checkpoint_beside(const std::filesystem::path& log, std::uint32_t file) {
  return log.string() + "." + std::to_string(file);
}

RecordingFile::RecordingFile(std::filesystem::path path, std::string_view text,
                             std::uint64_t capacity)
    : path_(std::move(path)),
      file_(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
  if (!file_.valid()) throw cannot_write(path_);
  for (std::uint32_t i = 0; i < abi::kSegments; ++i) {
    const std::string name = checkpoint(i).string();
    checkpoints_[i] = Descriptor(open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!checkpoints_[i].valid()) throw cannot_write(name);
  }
  refuse_above_limit(path_, capacity);
  const std::uint64_t chunks = (sizeof(abi::RecordingHeader) + text.size() + kChunksAlignment - 1) /
                               kChunksAlignment * kChunksAlignment;
  // What is written through the mapping has its place on the disk from the start.
  const int result = posix_fallocate(file_.get(), 0, static_cast<off_t>(chunks));
  if (result != 0 || ftruncate(file_.get(), static_cast<off_t>(chunks + capacity)) != 0) {
    if (result != 0) errno = result;
    throw cannot_write(path_);
  }
  void* const mapping =
      mmap(nullptr, chunks + capacity, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (mapping == MAP_FAILED) throw cannot_write(path_);
  header_ = static_cast<abi::RecordingHeader*>(mapping);
  std::memcpy(header_->magic, abi::kRecordingMagic, sizeof header_->magic);
  header_->version = abi::kRecordingVersion;
  header_->text_bytes = text.size();
  header_->chunks = chunks;
  header_->capacity = capacity;
  std::memcpy(reinterpret_cast<char*>(header_ + 1), text.data(), text.size());
}

RecordingFile::~RecordingFile() {
  if (header_ != nullptr) munmap(header_, size());
  unlink(path_.c_str());
  for (std::uint32_t i = 0; i < abi::kSegments; ++i) unlink(checkpoint(i).c_str());
}

std::filesystem::path RecordingFile::checkpoint(std::uint32_t file) const {
  return checkpoint_beside(path_, file);
}

RecordingDescriptors RecordingFile::descriptors() const {
  return {file_.get(), {checkpoints_[0].get(), checkpoints_[1].get()}};
}

void RecordingFile::reset() {
  const auto whole = static_cast<off_t>(size());
  if (ftruncate(file_.get(), static_cast<off_t>(header_->chunks)) != 0 ||
      ftruncate(file_.get(), whole) != 0) {
    throw cannot_write(path_);
  }
  header_->end = abi::RecordingEnd::None;
  for (abi::RecordingSegment& segment : header_->segments) segment = {};
  header_->newest = 0;
  header_->obstacle = 0;
  header_->threads = 0;
}

std::uint64_t RecordingFile::chunk_bytes() const {
  return used_chunk_bytes(*header_);
}

std::string_view RecordingFile::bytes() const {
  return {reinterpret_cast<const char*>(header_), header_->chunks + chunk_bytes()};
}

}  // namespace heddle::driver
