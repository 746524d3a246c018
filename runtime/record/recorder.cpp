// SPDX-License-Identifier: Apache-2.0
#include "runtime/record/recorder.h"

#include <fcntl.h>
#include <sys/uio.h>

#include <cstring>

#include "runtime/base/remains.h"
#include "runtime/base/system.h"
#include "runtime/record/path_recorder.h"
#include "runtime/reset/keeper.h"

namespace heddle::runtime {

namespace {

// Pages that come one by one, as each is touched, cost as much as the events in them: from some
// number on so many are asked for at once, unless an earlier execution in this process has.
constexpr std::uint64_t kFewEvents = 4096;
constexpr std::uint64_t kEventsAtOnce = 1 << 16;

void touch(char* begin, char* end) {
  constexpr std::uintptr_t kPageBits = 4095;
  constexpr long kPopulateWrite = 23;  // since Linux 5.14; without it they come one by one
  const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(begin) & ~kPageBits;
  const std::uintptr_t to = (reinterpret_cast<std::uintptr_t>(end) + kPageBits) & ~kPageBits;
  raw_syscall(SYS_madvise, static_cast<long>(from), static_cast<long>(to - from), kPopulateWrite);
}

}  // namespace

/// False: the run has had its bound of events, or the region is full.
bool Recorder::make_room() {
  const abi::Region& region = channel_->events;
  if (region.count == stop_at_) {
    stop_at_ = kNowhere;
    reached_();
  }
  const std::uint64_t bound = channel_->options.max_events;
  const std::uint64_t most = bound < region.capacity ? bound : region.capacity;
  if (region.count >= most) return false;
  const std::uint64_t at_once = region.count < kFewEvents ? kFewEvents : kEventsAtOnce;
  room_until_ = most - region.count < at_once ? most : region.count + at_once;
  if (stop_at_ > region.count && stop_at_ < room_until_) room_until_ = stop_at_;
  if (at_once == kEventsAtOnce) {
    if (!has_room_for(room_until_)) {
      auto* const events = records<abi::EventRecord>(region);
      touch(reinterpret_cast<char*>(events + region.count),
            reinterpret_cast<char*>(events + room_until_));
    }
    // What other executions there were is not the program's to see.
    forget_call<128>();
    forget_registers();
  }
  return true;
}

void Recorder::begin_run() {
  room_until_ = 0;
  stop_at_ = kNowhere;
  abi::ChannelHeader& channel = *channel_;
  channel.events.count = channel.decisions.count = channel.threads.count = 0;
  channel.objects.count = 0;
  channel.steps.count = channel.steps_lost = 0;
  channel.path.count = channel.path_full = 0;
  path_recorder().begin_run();
  channel.text.count = 0;
  forget_failure();
}

/// Not all of it: it is large, and of texts and lists a reader looks at the beginning or the count.
void Recorder::forget_failure() {
  abi::ChannelHeader& channel = *channel_;
  channel.stacks.count = channel.stack_bytes.count = channel.loaded.count = 0;
  channel.look = static_cast<std::uint32_t>(abi::Look::None);
  abi::FailureRecord& failure = channel.failure;
  failure.kind = abi::FailureKind::None;
  failure.thread = 0;
  failure.signal = 0;
  failure.site = failure.related_site = abi::kUnknownSite;
  failure.object = failure.related_thread = 0;
  failure.offset = failure.plan_position = 0;
  failure.message[0] = failure.file[0] = failure.function[0] = 0;
  failure.line = failure.wait_count = 0;
  failure.waiting_failures = 0;
}

Recorder::Position Recorder::position() const {
  const abi::ChannelHeader& channel = *channel_;
  return {channel.events.count,  channel.decisions.count, channel.threads.count,
          channel.objects.count, channel.text.count,      channel.steps.count,
          channel.steps_lost,    channel.path.count};
}

void Recorder::go_back_to(const Position& position) {
  abi::ChannelHeader& channel = *channel_;
  channel.events.count = position.events;
  channel.decisions.count = position.decisions;
  channel.threads.count = position.threads;
  channel.objects.count = position.objects;
  channel.text.count = position.text;
  channel.steps.count = position.steps;
  channel.steps_lost = position.steps_lost;
  channel.path.count = position.path;
  forget_failure();
}

void Recorder::add_step(abi::StepKind kind, abi::ThreadIndex thread, abi::SiteId site,
                        std::uint64_t value) {
  const abi::StepRecord step{channel_->events.count, value, site, kind, thread};
  if (!append(channel_->steps, step)) ++channel_->steps_lost;
}

void Recorder::add_thread(const abi::ThreadRecord& thread) {
  append(channel_->threads, thread);
}

std::uint32_t Recorder::add_object(const abi::ObjectRecord& object) {
  return append(channel_->objects, object) ? static_cast<std::uint32_t>(channel_->objects.count)
                                           : 0;
}

std::uint32_t Recorder::add_text(const char* text) {
  abi::Region& region = channel_->text;
  const std::uint64_t bytes = std::strlen(text) + 1;
  if (region.capacity - region.count < bytes) return 0;
  const std::uint64_t at = region.count;
  std::memcpy(records<char>(region) + at, text, bytes);
  __atomic_store_n(&region.count, at + bytes, __ATOMIC_RELEASE);
  return static_cast<std::uint32_t>(at);
}

namespace {

constexpr std::size_t kPage = 4096;
/// Of one thread. Deeper stacks lose their outermost callers.
constexpr std::size_t kMostPages = 32;

/// Copies memory that may not be there.
std::size_t copy_memory(char* to, std::uint64_t from, std::size_t bytes) {
  iovec pages[kMostPages];
  std::size_t count = 0;
  for (std::size_t done = 0; done < bytes && count < kMostPages; ++count) {
    const std::size_t length = kPage - (from + done) % kPage;
    pages[count] = {reinterpret_cast<void*>(from + done),
                    length < bytes - done ? length : bytes - done};
    done += pages[count].iov_len;
  }
  const iovec whole{to, bytes};
  const long copied =
      raw_syscall(SYS_process_vm_readv, raw_syscall(SYS_getpid), reinterpret_cast<long>(&whole), 1,
                  reinterpret_cast<long>(pages), static_cast<long>(count), 0);
  return copied < 0 ? 0 : static_cast<std::size_t>(copied);
}

}  // namespace

void Recorder::add_stack(abi::StackRecord stack) {
  abi::Region& region = channel_->stack_bytes;
  std::size_t room = region.capacity - region.count;
  if (room > (kMostPages - 1) * kPage) room = (kMostPages - 1) * kPage;
  char* const to = records<char>(region) + region.count;
  stack.offset = region.count;
  stack.bytes =
      static_cast<std::uint32_t>(copy_memory(to, stack.registers[abi::StackRecord::Rsp], room));
  region.count += stack.bytes;
  append(channel_->stacks, stack);
}

void Recorder::add_loaded_files() {
  abi::Region& region = channel_->loaded;
  const long file = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/maps"),
                                O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  while (region.count < region.capacity) {
    const long got =
        raw_syscall(SYS_read, file, reinterpret_cast<long>(records<char>(region) + region.count),
                    static_cast<long>(region.capacity - region.count));
    if (got <= 0) break;
    region.count += static_cast<std::uint64_t>(got);
  }
  raw_syscall(SYS_close, file);
}

}  // namespace heddle::runtime
