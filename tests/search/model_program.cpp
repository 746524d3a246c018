// SPDX-License-Identifier: Apache-2.0
#include "tests/search/model_program.h"

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "abi/names.h"

namespace heddle::search_model {
namespace {

constexpr std::uint64_t kMostEvents = 4000;
constexpr std::uint32_t kNobody = ~0u;

std::uint64_t hash_of_index(std::size_t index) {
  return index == 0 ? abi::kMainThreadHash : abi::path_hash(abi::kMainThreadHash, index);
}

abi::EventKind kind_of(const Step& step) {
  switch (step.kind) {
    case Step::Read:
    case Step::AwaitValue: return abi::EventKind::Load;
    case Step::Write: return abi::EventKind::Store;
    case Step::Lock: return abi::EventKind::MutexLock;
    case Step::Unlock: return abi::EventKind::MutexUnlock;
    case Step::Yield: return abi::EventKind::Yield;
    case Step::Sleep: return abi::EventKind::Sleep;
    case Step::Exit: return abi::EventKind::ThreadExit;
  }
  return abi::EventKind::None;
}

/// Variables and mutexes are different memory.
std::uint64_t offset_of(const Step& step) {
  const bool is_mutex = step.kind == Step::Lock || step.kind == Step::Unlock;
  return (step.location + (is_mutex ? 1000 : 0)) * 8ull;
}

bool has_place(const Step& step) {
  return step.kind != Step::Yield && step.kind != Step::Sleep && step.kind != Step::Exit;
}

template <typename Record>
void append(abi::ChannelHeader& header, abi::Region& region, const Record& record) {
  auto* const records = reinterpret_cast<Record*>(reinterpret_cast<char*>(&header) + region.offset);
  records[region.count++] = record;
}

/// One execution.
class Execution final : public runtime::ThreadView {
 public:
  Execution(const ModelProgram& program, abi::ChannelHeader& header)
      : program_(program), header_(header), at_(program.threads.size()) {
    result_.reads.resize(at_.size());
    for (std::size_t i = 0; i < at_.size(); ++i) refresh(i);
  }

  ModelRun run(runtime::Strategy& strategy) {
    while (enabled_.count() > 0 && header_.events.count < kMostEvents) {
      const runtime::SchedulingPoint point{current_, hash_of(current_), pending_of(current_),
                                           enabled_, *this};
      const abi::ThreadIndex chosen = strategy.choose(point);
      if (chosen == abi::kNoThread || !enabled_.contains(chosen)) {
        result_.diverged = true;
        return result_;
      }
      if (enabled_.count() > 1) note_decision(point, chosen);
      current_ = chosen;
      step(chosen);
      for (std::size_t i = 0; i < at_.size(); ++i) refresh(i);
    }
    result_.endless = enabled_.count() > 0;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      result_.deadlock |= !result_.endless && at_[i] < program_.threads[i].size();
    }
    result_.failed = result_.deadlock || program_.fails(result_.reads);
    return result_;
  }

  std::uint64_t hash_of(abi::ThreadIndex thread) const override { return hash_of_index(thread); }
  bool lets_time_pass(abi::ThreadIndex thread) const override {
    return pending_of(thread).kind == abi::EventKind::Sleep;
  }

 private:
  abi::SiteId site(abi::ThreadIndex thread) const {
    return abi::kFirstSite + thread * 100u + static_cast<abi::SiteId>(at_[thread]);
  }

  void refresh(std::size_t i) {
    const auto thread = static_cast<abi::ThreadIndex>(i);
    enabled_.erase(thread);
    set_pending(thread, {});
    if (at_[i] == program_.threads[i].size()) return;
    const Step& next = program_.threads[i][at_[i]];
    const abi::EventKind kind = kind_of(next);
    set_pending(thread, {kind, site(thread), has_place(next) ? offset_of(next) / 8 + 1 : 0,
                         abi::access_of(kind)});
    if (next.kind == Step::Lock && owner(next.location) != kNobody) return;
    enabled_.insert(thread);
  }

  std::uint32_t& owner(std::uint32_t mutex) {
    return owners_.try_emplace(mutex, kNobody).first->second;
  }

  void note_decision(const runtime::SchedulingPoint& point, abi::ThreadIndex chosen) {
    abi::DecisionRecord record{};
    record.event = header_.events.count;
    record.enabled = enabled_.first_word();
    record.site = point.pending.site;
    record.pending = point.pending.kind;
    record.chosen = chosen;
    record.bound = enabled_.count();
    record.thread = current_;
    record.kind = abi::DecisionKind::Thread;
    record.could_continue = enabled_.contains(current_) ? 1 : 0;
    append(header_, header_.decisions, record);
  }

  void step(abi::ThreadIndex thread) {
    const Step& step = program_.threads[thread][at_[thread]];
    abi::EventRecord event{};
    event.kind = kind_of(step);
    event.thread = thread;
    event.site = site(thread);
    if (has_place(step)) {
      event.object = 1;
      event.offset = offset_of(step);
      event.size = step.kind == Step::Lock || step.kind == Step::Unlock ? 0 : 8;
    }
    bool done = true;
    switch (step.kind) {
      case Step::Read: result_.reads[thread].push_back(memory_[step.location]); break;
      case Step::AwaitValue: done = memory_[step.location] == step.value; break;
      case Step::Write: memory_[step.location] = step.value; break;
      case Step::Lock: owner(step.location) = thread; break;
      case Step::Unlock: owner(step.location) = kNobody; break;
      case Step::Yield:
      case Step::Sleep:
      case Step::Exit: break;
    }
    append(header_, header_.events, event);
    result_.order.push_back(thread);
    if (done) ++at_[thread];
  }

  const ModelProgram& program_;
  abi::ChannelHeader& header_;
  std::vector<std::size_t> at_;  // by thread, its next step
  abi::ThreadIndex current_ = 0;
  runtime::ThreadSet enabled_;
  std::map<std::uint32_t, std::uint64_t> memory_;
  std::map<std::uint32_t, std::uint32_t> owners_;
  ModelRun result_;
};

abi::ThreadIndex find_model_thread(std::uint64_t hash) {
  for (std::size_t i = 0; i < 64; ++i) {
    if (hash_of_index(i) == hash) return static_cast<abi::ThreadIndex>(i);
  }
  return abi::kNoThread;
}

}  // namespace

std::string ModelRun::outcome() const {
  std::string text = deadlock ? "deadlock" : endless ? "endless" : "";
  for (const auto& thread : reads) text += fmt::format(" [{}]", fmt::join(thread, " "));
  return text;
}

Model::Model(ModelProgram program) : program_(std::move(program)), channel_(kMostEvents + 1) {
  for (auto& thread : program_.threads) thread.push_back({Step::Exit});
  abi::ObjectRecord memory;
  memory.kind = abi::ObjectKind::Static;
  append(channel_.header(), channel_.header().objects, memory);
  for (std::size_t i = 0; i < program_.threads.size(); ++i) {
    const abi::ThreadIndex parent = i == 0 ? abi::kNoThread : abi::ThreadIndex{0};
    append(channel_.header(), channel_.header().threads,
           abi::ThreadRecord{hash_of_index(i), static_cast<std::uint32_t>(i), parent, 0});
  }
}

ModelRun Model::run(const abi::Options& options, const std::vector<abi::PlanRecord>& plan) {
  channel_.header().events.count = channel_.header().decisions.count = 0;
  runtime::Strategy* const strategy = runtime::find_strategy(options.strategy);
  if (strategy == nullptr) return {};
  strategy->begin_run(options, {plan.data(), plan.size()}, &find_model_thread);
  return Execution(program_, channel_.header()).run(*strategy);
}

abi::Options options(const std::string& strategy, std::uint64_t seed) {
  abi::Options result;
  std::strcpy(result.strategy, strategy.c_str());
  result.seed = seed;
  return result;
}

}  // namespace heddle::search_model
