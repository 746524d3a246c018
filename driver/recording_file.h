// SPDX-License-Identifier: Apache-2.0
//
// The driver's side of abi/recording.h: the file that a recorded program writes to. On the disk, so
// that the system can take its memory back, and so that it is there whatever ends the program or
// this process. Beside it two files for checkpoints: LOG.0 and LOG.1.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "abi/recording.h"
#include "driver/descriptor.h"
#include "driver/target.h"

namespace heddle::driver {

/// Of a log with this header: up to the end of the last chunk that was begun.
std::uint64_t used_chunk_bytes(const abi::RecordingHeader& header);
std::filesystem::path checkpoint_beside(const std::filesystem::path& log, std::uint32_t file);

class RecordingFile {
 public:
  /// Room for `capacity` bytes of chunks, none of which is used yet. `text` is kept with it.
  /// environment_error when there is no room for the file.
  RecordingFile(std::filesystem::path path, std::string_view text, std::uint64_t capacity);
  ~RecordingFile();
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  /// Forgets what is in it.
  void reset();
  /// As it is on the disk, up to the last chunk that was begun.
  std::string_view bytes() const;
  std::uint64_t chunk_bytes() const;
  /// Where the disk was full, bytes() has holes that some file systems cannot even read.
  bool has_holes() const { return header_->end == abi::RecordingEnd::DiskFull; }
  RecordingDescriptors descriptors() const;
  /// Where the checkpoint of that number is written to.
  std::filesystem::path checkpoint(std::uint32_t file) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::uint64_t size() const { return header_->chunks + header_->capacity; }

  std::filesystem::path path_;
  Descriptor file_;
  Descriptor checkpoints_[abi::kSegments];
  abi::RecordingHeader* header_ = nullptr;
};

}  // namespace heddle::driver
