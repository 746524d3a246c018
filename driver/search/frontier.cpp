// SPDX-License-Identifier: Apache-2.0
#include "driver/search/frontier.h"

#include <utility>

namespace heddle::driver {

bool Frontier::make_room(std::uint32_t cost) {
  if (size_ < most_) return true;
  const auto dearest = waiting_.empty() ? waiting_.end() : std::prev(waiting_.end());
  if (dearest == waiting_.end() || dearest->first <= cost) {
    forget(cost);
    return false;
  }
  forget(dearest->first);
  dearest->second.pop_back();
  if (dearest->second.empty()) waiting_.erase(dearest);
  --size_;
  return true;
}

void Frontier::add(Prefix prefix) {
  const std::uint32_t cost = prefix.cost;
  if (!make_room(cost)) return;
  waiting_[cost].push_back(std::move(prefix));
  ++size_;
}

void Frontier::add_preemption(Prefix prefix, std::uint64_t thread, const Footprint& operation) {
  if (contention_.contended(operation, thread)) return add(std::move(prefix));
  if (!make_room(prefix.cost)) return;
  deferred_.push_back({std::move(prefix), thread, operation});
  ++size_;
}

void Frontier::note(const Footprint& operation, std::uint64_t thread) {
  contention_changed_ |= contention_.note(operation, thread);
}

void Frontier::release_deferred() {
  if (!std::exchange(contention_changed_, false)) return;
  std::erase_if(deferred_, [this](Deferred& entry) {
    if (!contention_.contended(entry.operation, entry.thread)) return false;
    waiting_[entry.prefix.cost].push_back(std::move(entry.prefix));
    return true;
  });
}

Prefix Frontier::take() {
  const auto cheapest = waiting_.begin();
  Prefix prefix = std::move(cheapest->second.front());
  cheapest->second.pop_front();
  if (cheapest->second.empty()) waiting_.erase(cheapest);
  --size_;
  return prefix;
}

}  // namespace heddle::driver
