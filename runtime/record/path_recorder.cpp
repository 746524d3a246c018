// SPDX-License-Identifier: Apache-2.0
#include "runtime/record/path_recorder.h"

namespace heddle::runtime {

namespace {
constinit PathRecorder the_path_recorder;
}

PathRecorder& path_recorder() {
  return the_path_recorder;
}

/// One item, complete before the channel counts it.
class PathRecorder::Writer {
 public:
  Writer(PathRecorder& recorder, const Place& place) : region_(place.channel.path) {
    abi::ChannelHeader& channel = place.channel;
    if (channel.events.count < channel.path_from || channel.path_full != 0) return;
    if (region_.capacity - region_.count < abi::kPathItemBytes) {
      channel.path_full = 1;
      return;
    }
    at_ = reinterpret_cast<std::uint8_t*>(&channel) + region_.offset + region_.count;
    begin_ = at_;
    // The first item counts from the beginning of the run, wherever it stands.
    if (channel.events.count != recorder.events_) {
      add(abi::PathItem::Other, (channel.events.count - recorder.events_) << 1);
      recorder.events_ = channel.events.count;
    }
    if (place.thread != recorder.thread_) {
      add(abi::PathItem::Other, (std::uint64_t{place.thread} << 1) | 1);
      recorder.thread_ = place.thread;
    }
    recorder.is_used_ = true;
  }
  ~Writer() {
    if (at_ == begin_) return;
    const auto bytes = static_cast<std::uint64_t>(at_ - begin_);
    __atomic_store_n(&region_.count, region_.count + bytes, __ATOMIC_RELEASE);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// False: there is no room, or it is not the time.
  explicit operator bool() const { return begin_ != nullptr; }

  void add(abi::PathItem item, std::uint64_t argument) {
    add((argument << 3) | static_cast<std::uint64_t>(item));
  }
  void add(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) *at_++ = static_cast<std::uint8_t>(number | 0x80);
    *at_++ = static_cast<std::uint8_t>(number);
  }

 private:
  abi::Region& region_;
  std::uint8_t* begin_ = nullptr;
  std::uint8_t* at_ = nullptr;
};

void PathRecorder::begin_run() {
  if (!is_used_) return;
  is_used_ = false;
  thread_ = 0;
  instruction_ = 0;
  events_ = 0;
  frames_ = {};
  addresses_ = {};
}

void PathRecorder::at(const Place& place, abi::PathItem item, std::uint32_t instruction) {
  Writer writer(*this, place);
  if (!writer) return;
  writer.add(item, abi::zigzag(std::uint64_t{instruction} - instruction_));
  instruction_ = instruction;
}

void PathRecorder::access(const Place& place, std::uint32_t instruction, std::uint64_t address) {
  Writer writer(*this, place);
  if (!writer) return;
  writer.add(abi::PathItem::Access, abi::zigzag(std::uint64_t{instruction} - instruction_));
  instruction_ = instruction;
  writer.add(addresses_.number_for(instruction, address));
}

void PathRecorder::range(const Place& place, std::uint32_t instruction, std::uint64_t address,
                         std::uint64_t bytes) {
  Writer writer(*this, place);
  if (!writer) return;
  writer.add(abi::PathItem::Range, abi::zigzag(std::uint64_t{instruction} - instruction_));
  instruction_ = instruction;
  writer.add(addresses_.number_for(instruction, address));
  writer.add(bytes);
}

void PathRecorder::frame(const Place& place, abi::PathItem item, std::uint64_t address) {
  Writer writer(*this, place);
  if (!writer) return;
  writer.add(item, frames_.number_for(place.thread, address));
}

void PathRecorder::exit(const Place& place) {
  Writer writer(*this, place);
  if (writer) writer.add(abi::PathItem::Exit, 0);
}

}  // namespace heddle::runtime
