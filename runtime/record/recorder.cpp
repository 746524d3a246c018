// SPDX-License-Identifier: Apache-2.0
#include "runtime/record/recorder.h"

#include <cstring>

namespace heddle::runtime {

void Recorder::begin_run() {
  abi::ChannelHeader& channel = *channel_;
  channel.events.count = channel.decisions.count = channel.threads.count = 0;
  channel.objects.count = 0;
  channel.steps.count = channel.steps_lost = 0;
  channel.text.count = 0;
  // Only what a reader looks at without being told that it is set.
  channel.failure.kind = abi::FailureKind::None;
  channel.failure.wait_count = 0;
  channel.failure.message[0] = channel.failure.file[0] = channel.failure.function[0] = 0;
}

bool Recorder::add_event(const abi::EventRecord& event) {
  return channel_->events.count < channel_->options.max_events && append(channel_->events, event);
}

void Recorder::add_step(abi::StepKind kind, abi::ThreadIndex thread, abi::SiteId site,
                        std::uint64_t value) {
  const abi::StepRecord step{channel_->events.count, value, site, kind, thread};
  if (!append(channel_->steps, step)) ++channel_->steps_lost;
}

// As many decisions as events at the most, and the region has room for that many.
void Recorder::add_decision(const abi::DecisionRecord& decision) {
  append(channel_->decisions, decision);
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

}  // namespace heddle::runtime
