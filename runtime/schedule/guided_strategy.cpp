// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule/guided_strategy.h"

namespace heddle::runtime {

void GuidedStrategy::begin_run(const abi::Options& options, Plan plan, ThreadFinder find) {
  base_.begin_run(options, plan, find);
  random_.seed(~options.seed);
  wishes_.clear();
  writes_.clear();
  used_ = 0;
  held_ = 0;
  for (std::size_t i = 0; i < plan.count; ++i) {
    const abi::PlanRecord& record = plan.records[i];
    const bool early = record.kind == abi::DecisionKind::ReadsEarly;
    if (record.kind != abi::DecisionKind::ReadsFrom && !early) continue;
    wishes_.push_back(
        {static_cast<abi::SiteId>(record.target), record.site, 0, abi::kNoThread, early, false});
  }
  looked_up_ = nullptr;
  if (wishes_.size() > 0) writes_.resize(256);
  forget_fulfilled();
}

void GuidedStrategy::forget_fulfilled() {
  std::size_t open = 0;
  sites_ = 0;
  awaits_read_ = false;
  for (const Wish& wish : wishes_) {
    if (wish.over) continue;
    wishes_[open++] = wish;
    sites_ |= std::uint64_t{1} << (wish.read % 64);
    if (wish.early) sites_ |= std::uint64_t{1} << (wish.write % 64);
    awaits_read_ |= wish.location != 0;
  }
  wishes_.resize(open);
}

GuidedStrategy::LastWrite& GuidedStrategy::last_write(std::uint64_t location) {
  // Threads that run the same code are often about to act on the same.
  if (looked_up_ != nullptr && looked_up_->location == location) return *looked_up_;
  if (used_ * 2 >= writes_.size()) {
    Vector<LastWrite> old = writes_;
    looked_up_ = nullptr;
    writes_ = Vector<LastWrite>{};
    writes_.resize(old.size() * 2);
    used_ = 0;
    for (const LastWrite& entry : old) {
      if (entry.location != 0) last_write(entry.location) = entry;
    }
  }
  const std::size_t mask = writes_.size() - 1;
  std::size_t i = static_cast<std::size_t>(abi::path_hash(location, 0)) & mask;
  while (writes_[i].location != 0 && writes_[i].location != location) i = (i + 1) & mask;
  if (writes_[i].location == 0) {
    writes_[i] = {location, abi::kUnknownSite, abi::kNoThread};
    ++used_;
  }
  looked_up_ = &writes_[i];
  return writes_[i];
}

GuidedStrategy::Advice GuidedStrategy::advice(const Pending& pending, abi::ThreadIndex thread) {
  Advice result = Advice::None;
  if (pending.location == 0) return result;
  for (const Wish& wish : wishes_) {
    if (wish.early) {
      if (pending.site == wish.read) return Advice::Go;
      if (pending.site == wish.write) result = Advice::Hold;
    } else if (pending.site == wish.read) {
      const LastWrite& last = last_write(pending.location);
      if (last.site == wish.write && last.thread != thread) return Advice::Go;
      result = Advice::Hold;
    } else if (wish.location == pending.location && pending.writes() && wish.writer != thread) {
      result = Advice::Hold;  // what was written there has not been read yet
    }
  }
  return result;
}

/// What the chosen thread is going to do now.
void GuidedStrategy::note(const Pending& done, abi::ThreadIndex thread) {
  if (done.location == 0) return;
  for (Wish& wish : wishes_) {
    if (done.site != wish.read) continue;
    const LastWrite& last = last_write(done.location);
    if (!wish.early && (last.site != wish.write || last.thread == thread)) continue;
    wish.over = true;
  }
  forget_fulfilled();
  if (!done.writes()) return;
  last_write(done.location) = {done.location, done.site, thread};
  for (Wish& wish : wishes_) {
    if (wish.early) continue;
    if (done.site == wish.write) {
      wish.location = done.location;
      wish.writer = thread;
    } else if (wish.location == done.location) {
      wish.location = 0;  // overwritten
    }
    awaits_read_ |= wish.location != 0;
  }
}

/// Everybody is held up: one of the wishes they are held up by is impossible here.
void GuidedStrategy::give_up_one(const SchedulingPoint& point) {
  const abi::ThreadIndex thread = point.enabled.nth(random_.below(point.enabled.count()));
  const Pending& pending = point.threads.pending_of(thread);
  for (Wish& wish : wishes_) {
    wish.over =
        (wish.early ? wish.write : wish.read) == pending.site || wish.location == pending.location;
  }
  forget_fulfilled();
}

abi::ThreadIndex GuidedStrategy::choose(const SchedulingPoint& point) {
  if (wishes_.size() == 0 || point.enabled.count() == 1) {
    const abi::ThreadIndex chosen = base_.choose(point);
    if (wishes_.size() > 0) note(point.threads.pending_of(chosen), chosen);
    return chosen;
  }
  ThreadSet candidates = point.enabled;
  abi::ThreadIndex urgent = abi::kNoThread;
  for (;;) {
    point.enabled.for_each([&](abi::ThreadIndex thread) {
      const Pending& pending = point.threads.pending_of(thread);
      if (!may_concern(pending)) return;
      const Advice said = advice(pending, thread);
      if (said == Advice::Go) urgent = thread;
      if (said == Advice::Hold) candidates.erase(thread);
    });
    if (candidates.count() > 0) break;
    give_up_one(point);
    candidates = point.enabled;
  }
  if (candidates.count() < point.enabled.count() && ++held_ > kPatience) wishes_.clear();
  if (urgent != abi::kNoThread) {
    candidates = ThreadSet{};
    candidates.insert(urgent);
  }
  const abi::ThreadIndex chosen = base_.choose_among(point, candidates);
  note(point.threads.pending_of(chosen), chosen);
  return chosen;
}

std::uint32_t GuidedStrategy::choose_value(const SchedulingPoint& point, std::uint32_t bound) {
  return base_.choose_value(point, bound);
}

}  // namespace heddle::runtime
