// SPDX-License-Identifier: Apache-2.0
#include "analysis/order/order.h"

#include <unordered_map>

namespace heddle::analysis {
namespace {

class Merger {
 public:
  explicit Merger(const Recording& recording)
      : recording_(recording), next_(recording.threads.size(), 0) {}

  TotalOrder merge() {
    std::size_t thread = 0;
    while (find_ready(thread)) take(thread);
    for (std::size_t i = 0; i < next_.size(); ++i) {
      for (std::size_t at = next_[i]; at < end_of(i); at = after(i, at)) ++order_.left_out;
    }
    return std::move(order_);
  }

 private:
  std::size_t end_of(std::size_t thread) const { return recording_.threads[thread].steps.size(); }
  const abi::RecordedStep& step(std::size_t thread, std::size_t at) const {
    return recording_.threads[thread].steps[at];
  }

  /// Where the operation behind the one at `at` begins.
  std::size_t after(std::size_t thread, std::size_t at) const {
    do {
      ++at;
    } while (at < end_of(thread) && step(thread, at).kind == abi::EventKind::None);
    return at;
  }

  bool ready(std::size_t thread) const {
    const std::size_t begin = next_[thread];
    if (begin == end_of(thread)) return false;
    for (std::size_t at = begin; at < after(thread, begin); ++at) {
      const abi::RecordedStep& touched = step(thread, at);
      if (touched.stripe == abi::kNoStripe) continue;
      const auto found = visits_.find(touched.stripe);
      if ((found == visits_.end() ? 0 : found->second) != touched.sequence) return false;
    }
    return true;
  }

  bool ends_the_run(std::size_t thread) const {
    return thread == recording_.last && after(thread, next_[thread]) == end_of(thread);
  }

  /// `thread` itself if it can go on, else whoever is next in the circle.
  bool find_ready(std::size_t& thread) const {
    const std::size_t count = next_.size();
    bool only_the_last = false;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t candidate = (thread + i) % count;
      if (!ready(candidate)) continue;
      if (ends_the_run(candidate)) {
        only_the_last = true;
        continue;
      }
      thread = candidate;
      return true;
    }
    if (only_the_last) thread = recording_.last;
    return only_the_last;
  }

  void take(std::size_t thread) {
    const std::size_t begin = next_[thread];
    const std::size_t end = after(thread, begin);
    for (std::size_t at = begin; at < end; ++at) ++visits_[step(thread, at).stripe];
    next_[thread] = end;
    ++order_.operations;
    if (order_.turns.empty() || order_.turns.back().thread != thread) {
      // Threads that call out of the program at the same time overwrite each other's call site.
      const abi::RecordedStep& first = step(thread, begin);
      const bool is_sure = first.stripe < abi::kStripes && first.kind != abi::EventKind::HeapFree;
      order_.turns.push_back({thread, 0, is_sure ? first.site : abi::kUnknownSite});
    }
    ++order_.turns.back().operations;
  }

  const Recording& recording_;
  std::vector<std::size_t> next_;
  std::unordered_map<std::uint16_t, std::uint64_t> visits_;
  TotalOrder order_;
};

}  // namespace

TotalOrder order_of(const Recording& recording) {
  return Merger(recording).merge();
}

}  // namespace heddle::analysis
