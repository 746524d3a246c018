// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "trace/words.h"

namespace heddle::analysis {
namespace {

using trace::Event;
using trace::EventKind;

constexpr const char* kNotNeeded = "the failure does not need it";

std::string reason(Verdict verdict, const std::string& signature) {
  switch (verdict) {
    case Verdict::Passes: return "without it the failure does not come back";
    case Verdict::FailsOtherwise:
      return fmt::format("without it another failure comes: {}", signature);
    case Verdict::FailsSequentially:
      return "without it the program fails in every order: its work is missing";
    case Verdict::Starves: return "others wait for what it does";
    case Verdict::Accepted:
    case Verdict::NotAsked: break;
  }
  return "not tried";
}

}  // namespace

void Account::keep(const std::string& thread, Verdict verdict, const std::string& signature) {
  why_thread_[thread] = reason(verdict, signature);
}

void Account::keep(const Iteration& iteration, Verdict verdict, const std::string& signature) {
  why_iteration_[iteration] = reason(verdict, signature);
}

trace::Frame Account::created_at(const std::string& thread) const {
  const trace::Trace& trace = original_.trace;
  for (const Event& event : trace.events) {
    if (event.kind != EventKind::ThreadCreate || event.value >= trace.threads.size()) continue;
    if (trace.threads[event.value].path != thread) continue;
    const trace::Frame* const frame = trace::source_frame(trace, event.site);
    return frame == nullptr ? trace::Frame{} : *frame;
  }
  return {};
}

/// The block's own place is in a macro's header; who uses the macro is one frame out.
trace::Frame Account::block_at(const std::string& site) const {
  for (const trace::Site& candidate : original_.trace.sites) {
    if (candidate.key != site || candidate.frames.empty()) continue;
    return candidate.frames.size() > 1 ? candidate.frames[1] : candidate.frames[0];
  }
  return {};
}

/// How many events of the original run belong to them.
std::uint64_t Account::events_of(std::vector<Iteration> iterations) const {
  LeftOut alone;
  alone.iterations = std::move(iterations);
  const std::vector<bool> missing = missing_events(original_.trace, alone);
  return static_cast<std::uint64_t>(std::count(missing.begin(), missing.end(), true));
}

std::vector<AccountEntry> Account::entries(const Attempt& best) const {
  const trace::Trace& trace = original_.trace;
  LeftOut left_out = left_out_of(best.schedule);
  // Who was created in an iteration that went is gone with it.
  std::set<std::string> present;
  for (const trace::Thread& thread : best.trace.threads) present.insert(thread.path);
  for (const trace::Thread& thread : trace.threads) {
    if (!present.contains(thread.path)) left_out.threads.push_back(thread.path);
  }
  std::vector<std::uint64_t> events(trace.threads.size(), 0);
  for (const Event& event : trace.events) ++events[event.thread];

  std::vector<AccountEntry> result;
  const LeftOut already = left_out_of(original_.schedule);
  const auto is_gone = [](const LeftOut& what, const std::string& thread) {
    return std::any_of(what.threads.begin(), what.threads.end(),
                       [&](const std::string& ancestor) { return is_part_of(thread, ancestor); });
  };
  for (std::size_t i = 0; i < trace.threads.size(); ++i) {
    const std::string& thread = trace.threads[i].path;
    if (thread == "t0" || thread.ends_with('~') || is_gone(already, thread)) continue;
    const auto why = why_thread_.find(thread);
    AccountEntry entry{thread, created_at(thread), {}, events[i], is_gone(left_out, thread), ""};
    entry.why = entry.removed              ? kNotNeeded
                : why == why_thread_.end() ? "a thread it creates is needed"
                                           : why->second;
    result.push_back(std::move(entry));
  }

  // One line for the iterations of a block that went, and one for each that stayed, unless nobody
  // has said that they are worth a line.
  std::map<std::pair<std::string, std::string>, std::vector<Iteration>> blocks;
  for (const Iteration& iteration : iterations_of(trace)) {
    if (is_gone(left_out, iteration.thread)) continue;
    if (std::binary_search(left_out.iterations.begin(), left_out.iterations.end(), iteration)) {
      blocks[{iteration.thread, iteration.site}].push_back(iteration);
      continue;
    }
    if (trace::is_loop(iteration.site)) continue;
    const auto why = why_iteration_.find(iteration);
    result.push_back({iteration.thread,
                      block_at(iteration.site),
                      {iteration.number},
                      events_of({iteration}),
                      false,
                      why == why_iteration_.end() ? "not tried" : why->second});
  }
  for (auto& [block, iterations] : blocks) {
    AccountEntry entry;
    entry.thread = block.first;
    entry.place = block_at(block.second);
    for (const Iteration& iteration : iterations) entry.iterations.push_back(iteration.number);
    entry.events = events_of(std::move(iterations));
    entry.removed = true;
    entry.why = kNotNeeded;
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace heddle::analysis
