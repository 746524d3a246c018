// SPDX-License-Identifier: Apache-2.0
#include "driver/search/happens_before.h"

#include <unordered_map>

namespace heddle::driver {
namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return abi::path_hash(a, b);
}

/// The accesses to one thing that a later access is ordered after.
struct Order {
  std::uint64_t write = 0;  // the last one
  std::uint64_t reads = 0;  // all since, in no order

  std::uint64_t before(Touch touch) const {
    return touch == Touch::Write ? mix(write, reads) : write;
  }
  void add(Touch touch, std::uint64_t event) {
    if (touch == Touch::Read) {
      reads += event;
    } else {
      write = event;
      reads = 0;
    }
  }
};

/// An object as a whole: what was done to all of it, and everything done to parts of it since.
struct Whole {
  std::uint64_t whole = 0;
  std::uint64_t parts = 0;
};

class StateNames {
 public:
  StateNames(const Channel& channel, const std::vector<Footprint>& footprints)
      : events_(channel.events()), threads_(channel.threads()), footprints_(footprints) {
    last_.resize(threads_.size());
    for (std::size_t i = 0; i < threads_.size(); ++i) last_[i] = threads_[i].hash;
  }

  void advance(std::uint64_t events) {
    for (; done_ < events && done_ < events_.size(); ++done_) add(events_[done_]);
  }

  /// The thread's next event depends on a choice of data.
  void note_value(abi::ThreadIndex thread, std::uint32_t value) {
    if (thread < last_.size()) last_[thread] = mix(last_[thread], value + 1);
  }

  std::uint64_t state() const { return state_; }

 private:
  void add(const abi::EventRecord& event) {
    if (event.thread >= last_.size()) return;
    const Footprint& footprint = footprints_[done_];
    std::uint64_t name = last_[event.thread];
    if (footprint.synchronises()) name = mix(name, sync_.before(footprint.all_sync));
    if (footprint.object != 0 && footprint.memory != Touch::None) {
      Whole& whole = objects_[footprint.object];
      name = mix(name, whole.whole);
      if (is_large(footprint)) {
        name = mix(name, whole.parts);
      } else {
        for_each_unit(footprint, [&](std::uint64_t unit) {
          name = mix(name, units_[unit].before(footprint.memory));
        });
      }
    }
    name = mix(name, event.site);
    if (footprint.synchronises()) sync_.add(footprint.all_sync, name);
    if (footprint.object != 0 && footprint.memory != Touch::None) {
      Whole& whole = objects_[footprint.object];
      if (is_large(footprint)) {
        // Also where it only reads: one order too many is safe.
        whole = {name, 0};
      } else {
        whole.parts += name;
        for_each_unit(footprint,
                      [&](std::uint64_t unit) { units_[unit].add(footprint.memory, name); });
      }
    }
    last_[event.thread] = name;
    if (event.kind == abi::EventKind::ThreadCreate && event.value < last_.size()) {
      last_[event.value] = mix(name, last_[event.value]);
    }
    state_ += name;
  }

  std::span<const abi::EventRecord> events_;
  std::span<const abi::ThreadRecord> threads_;
  const std::vector<Footprint>& footprints_;
  std::uint64_t done_ = 0;
  std::uint64_t state_ = 0;
  std::vector<std::uint64_t> last_;  // by thread, the name of its last event
  Order sync_;
  std::unordered_map<std::uint64_t, Order> units_;
  std::unordered_map<std::uint64_t, Whole> objects_;
};

}  // namespace

std::vector<std::uint64_t> states_before_decisions(const Channel& channel,
                                                   const std::vector<Footprint>& footprints) {
  std::vector<std::uint64_t> states;
  states.reserve(channel.decisions().size() + 1);
  StateNames names(channel, footprints);
  for (const abi::DecisionRecord& decision : channel.decisions()) {
    names.advance(decision.event);
    states.push_back(names.state());
    if (decision.kind == abi::DecisionKind::Value)
      names.note_value(decision.thread, decision.chosen);
  }
  names.advance(channel.events().size());
  states.push_back(names.state());
  return states;
}

}  // namespace heddle::driver
