// SPDX-License-Identifier: Apache-2.0
#include "runtime/environment/stand_ins.h"

#include <cstring>

#include "runtime/base/text.h"

namespace heddle::runtime {

StandIns& stand_ins() {
  static constinit StandIns only;
  return only;
}

const char* StandIns::find(const char* path) {
  if (channel_ == nullptr) return nullptr;
  const char* text = bytes(channel_->stand_ins);
  for (std::uint64_t i = 0; i < channel_->stand_ins.count; ++i) {
    const char* const instead = text + std::strlen(text) + 1;
    if (same_text(text, path)) return instead;
    text = instead + std::strlen(instead) + 1;
  }
  return nullptr;
}

// What is there already stays: the executions of one program open the same libraries.
void StandIns::note(const char* path) {
  if (channel_ == nullptr) return;
  abi::Region& opened = channel_->opened;
  char* const first = bytes(opened);
  for (std::uint64_t at = 0; at < opened.count; at += std::strlen(first + at) + 1) {
    if (same_text(first + at, path)) return;
  }
  const std::size_t length = std::strlen(path) + 1;
  if (length > opened.capacity - opened.count) return;
  std::memcpy(first + opened.count, path, length);
  opened.count += length;
}

}  // namespace heddle::runtime
