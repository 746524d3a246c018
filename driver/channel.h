// SPDX-License-Identifier: Apache-2.0
//
// The driver's side of abi/channel.h: creates the shared memory, lends it to a target, and gives
// typed views of what is in it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/channel.h"
#include "driver/descriptor.h"
#include "driver/outside.h"

namespace heddle::driver {

/// What is loaded in the place of a library that the program opens by itself.
struct StandIn {
  std::string library;
  std::string instead;
};

class Channel {
 public:
  /// Room for `max_events` events. Memory is used as it is touched.
  /// With `told`: everything from outside comes from there.
  explicit Channel(std::uint64_t max_events, const Outside* told = nullptr,
                   std::span<const StandIn> stand_ins = {});
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  abi::ChannelHeader& header() { return *header_; }
  const abi::ChannelHeader& header() const { return *header_; }
  int descriptor() const { return memory_.get(); }

  /// Throws a user error when the plan has more records than fit.
  void set_plan(std::span<const abi::PlanRecord> plan);

  /// Leaves the next execution room for so many events, or for all there is room for.
  void bound_events(std::uint64_t most);

  /// The next executions' way through the program is written down behind so many events.
  void record_path_from(std::uint64_t events);

  std::span<const abi::PlanRecord> plan() const;
  std::span<const abi::EventRecord> events() const;
  std::span<const abi::DecisionRecord> decisions() const;
  std::span<const abi::ThreadRecord> threads() const;
  std::span<const abi::ObjectRecord> objects() const;
  std::span<const abi::StepRecord> steps() const;
  /// As abi/path_record.h says.
  std::string_view path() const;
  std::span<const abi::StackRecord> stacks() const;
  std::span<const char> stack_bytes() const;
  /// What was loaded where, as /proc/PID/maps says it.
  std::string_view loaded() const;
  /// Paths of libraries that the program opened by itself and that nothing stands in for.
  std::vector<std::string> opened() const;
  std::string_view text_at(std::uint32_t offset) const;

 private:
  void tell(const ToldRegions& told);
  template <typename Record>
  std::span<const Record> view(const abi::Region& region) const;

  Descriptor memory_;
  std::uint64_t max_events_;
  abi::ChannelHeader* header_ = nullptr;
};

}  // namespace heddle::driver
