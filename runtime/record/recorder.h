// SPDX-License-Identifier: Apache-2.0
//
// Appends what happened to the channel. Never decides anything; a full region is reported to the
// caller. Records are complete before their count says so: the process may die at any instruction.
#pragma once

#include <cstdint>

#include "abi/channel.h"

namespace heddle::runtime {

class Recorder {
 public:
  explicit constexpr Recorder(abi::ChannelHeader* channel = nullptr) : channel_(channel) {}

  void begin_run();

  /// Calls `reached` when `events` have been recorded, before the next one is.
  void stop_at(std::uint64_t events, void (*reached)()) {
    stop_at_ = events;
    reached_ = reached;
  }
  /// How much has been recorded.
  struct Position {
    std::uint64_t events, decisions, threads, objects, text, steps, steps_lost, path;
  };
  Position position() const;
  /// As if nothing had been recorded beyond that: what was before is still there.
  void go_back_to(const Position& position);

  /// False when the region is full or the run has had its bound of events. Inline, like
  /// add_decision: a record is built where it stays. One that is built on the stack and copied from
  /// there has to wait until the stores of its parts are done, for longer than all else takes.
  [[gnu::always_inline]] bool add_event(const abi::EventRecord& event) {
    abi::Region& region = channel_->events;
    if (region.count >= room_until_ && !make_room()) [[unlikely]]
      return false;
    add(region, event);
    return true;
  }
  /// Counts what there is no room for: a run must not depend on who watches it.
  void add_step(abi::StepKind kind, abi::ThreadIndex thread, abi::SiteId site, std::uint64_t value);
  /// As many as events at the most, and the region has room for that many.
  [[gnu::always_inline]] void add_decision(const abi::DecisionRecord& decision) {
    append(channel_->decisions, decision);
  }
  void add_thread(const abi::ThreadRecord& thread);
  /// Index + 1, as events refer to objects.
  std::uint32_t add_object(const abi::ObjectRecord& object);
  std::uint32_t add_text(const char* text);

  /// Adds the memory from the stack pointer on; what cannot be read, and what there is no room for,
  /// is left out.
  void add_stack(abi::StackRecord stack);
  void add_loaded_files();

  const abi::ThreadRecord& thread_record(abi::ThreadIndex thread) {
    return records<abi::ThreadRecord>(channel_->threads)[thread];
  }
  std::uint64_t event_count() const { return channel_->events.count; }
  abi::ChannelHeader& channel() { return *channel_; }

 private:
  template <typename Record>
  Record* records(const abi::Region& region) {
    return reinterpret_cast<Record*>(reinterpret_cast<char*>(channel_) + region.offset);
  }
  template <typename Record>
  [[gnu::always_inline]] bool append(abi::Region& region, const Record& record) {
    if (region.count == region.capacity) return false;
    add(region, record);
    return true;
  }
  template <typename Record>
  [[gnu::always_inline]] void add(abi::Region& region, const Record& record) {
    const std::uint64_t at = region.count;
    records<Record>(region)[at] = record;
    __atomic_store_n(&region.count, at + 1, __ATOMIC_RELEASE);
  }
  bool make_room();
  void forget_failure();

  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  abi::ChannelHeader* channel_;
  std::uint64_t stop_at_ = kNowhere;
  void (*reached_)() = nullptr;
  std::uint64_t room_until_ = 0;  // number of events up to which nothing need be looked at
};

}  // namespace heddle::runtime
