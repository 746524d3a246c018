// SPDX-License-Identifier: Apache-2.0
#include "driver/search/frontier.h"

#include <bit>
#include <utility>

namespace heddle::driver {

abi::PlanRecord Trail::answer(std::size_t decision, std::uint32_t chosen) const {
  abi::PlanRecord plan{};
  plan.kind = decisions[decision].kind;
  plan.target = plan.kind == abi::DecisionKind::Value ? chosen : thread(chosen);
  return plan;
}

std::uint64_t Trail::key(std::size_t decision, std::uint32_t chosen) const {
  const abi::DecisionRecord& record = decisions[decision];
  const bool is_value = record.kind == abi::DecisionKind::Value;
  return abi::path_hash(states[decision], is_value
                                              ? abi::path_hash(thread(record.thread), chosen + 1)
                                              : thread(chosen));
}

bool Frontier::make_room(std::uint32_t cost) {
  if (size_ < most_) return true;
  const auto dearest = waiting_.empty() ? waiting_.end() : std::prev(waiting_.end());
  if (dearest == waiting_.end() || dearest->first <= cost) {
    forget(cost);
    return false;
  }
  forget(dearest->first);
  Queue& queue = dearest->second;
  queue.prefixes -= static_cast<std::size_t>(std::popcount(queue.branches.back().others));
  queue.branches.pop_back();
  if (queue.branches.empty()) waiting_.erase(dearest);
  --size_;
  return true;
}

void Frontier::wait(Branch branch) {
  Queue& queue = waiting_[branch.cost];
  queue.prefixes += static_cast<std::size_t>(std::popcount(branch.others));
  queue.branches.push_back(std::move(branch));
}

void Frontier::add(Branch branch) {
  if (!make_room(branch.cost)) return;
  wait(std::move(branch));
  ++size_;
}

void Frontier::add_preemption(Branch branch, std::uint64_t thread, const Footprint& operation) {
  if (contention_.contended(operation, thread)) return add(std::move(branch));
  if (!make_room(branch.cost)) return;
  deferred_.push_back({std::move(branch), thread, operation});
  ++size_;
}

void Frontier::note(const Footprint& operation, std::uint64_t thread) {
  contention_changed_ |= contention_.note(operation, thread);
}

void Frontier::release_deferred() {
  if (!std::exchange(contention_changed_, false)) return;
  std::erase_if(deferred_, [this](Deferred& entry) {
    if (!contention_.contended(entry.operation, entry.thread)) return false;
    wait(std::move(entry.branch));
    return true;
  });
}

Prefix Frontier::take() {
  const auto cheapest = waiting_.begin();
  Queue& queue = cheapest->second;
  Branch& branch = queue.branches.front();
  const auto bit = static_cast<std::uint32_t>(std::countr_zero(branch.others));
  Prefix prefix{branch.trail, branch.decision, branch.first + bit, branch.cost, branch.sleep};
  branch.others &= branch.others - 1;
  --queue.prefixes;
  if (branch.others == 0) {
    queue.branches.pop_front();
    --size_;
    if (queue.branches.empty()) waiting_.erase(cheapest);
  }
  return prefix;
}

}  // namespace heddle::driver
