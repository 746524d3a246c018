// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/loop_stacks.h"

#include <algorithm>

namespace heddle::analysis {
namespace {

using trace::Step;
using trace::StepKind;

/// A loop that a thread is in.
struct Open {
  trace::SiteIndex loop;
  std::uint32_t entry;
  std::uint32_t iteration = 0;
  std::uint32_t round = 0;  // its number; 0: no event has asked for it yet
  std::vector<std::pair<trace::SiteIndex, std::uint32_t>> entered{};  // from this round, how often
};

/// The loops that one thread is in. The first is no loop: all of what the thread does.
class Nest {
 public:
  void take(const Step& step) {
    switch (step.kind) {
      case StepKind::LoopEnter: open_.push_back({step.site, count_entry(step.site)}); break;
      case StepKind::LoopIteration:
        if (open_.size() == 1 || open_.back().loop != step.site) break;
        ++open_.back().iteration;
        open_.back().round = 0;
        open_.back().entered.clear();
        break;
      case StepKind::LoopExit:
        if (open_.size() > 1 && open_.back().loop == step.site) open_.pop_back();
        break;
      default: break;
    }
  }

  std::uint32_t round(std::vector<LoopStacks::Round>& rounds) {
    for (std::size_t i = 1; i < open_.size(); ++i) {
      if (open_[i].round != 0) continue;
      open_[i].round = static_cast<std::uint32_t>(rounds.size());
      rounds.push_back({open_[i - 1].round, open_[i].loop, open_[i].entry, open_[i].iteration});
    }
    return open_.back().round;
  }

 private:
  std::uint32_t count_entry(trace::SiteIndex loop) {
    auto& entered = open_.back().entered;
    const auto known = std::find_if(entered.begin(), entered.end(),
                                    [loop](const auto& it) { return it.first == loop; });
    if (known != entered.end()) return ++known->second;
    entered.emplace_back(loop, 1);
    return 1;
  }

  std::vector<Open> open_{{trace::kNone, 1}};
};

}  // namespace

LoopStacks::LoopStacks(const trace::Trace& trace) {
  at_.reserve(trace.events.size());
  std::vector<Nest> nests(trace.threads.size());
  std::size_t step = 0;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    for (; step < trace.steps.size() && trace.steps[step].event <= i; ++step) {
      nests[trace.steps[step].thread].take(trace.steps[step]);
    }
    const bool lost = trace.steps_lost > 0 && step == trace.steps.size();
    at_.push_back(lost ? kUnknown : nests[trace.events[i].thread].round(rounds_));
  }
}

std::vector<LoopStacks::Round> LoopStacks::stack(std::uint32_t number) const {
  std::vector<Round> result;
  if (number == kUnknown) return result;
  for (; number != 0; number = rounds_[number].around) result.push_back(rounds_[number]);
  std::reverse(result.begin(), result.end());
  return result;
}

std::uint32_t RoundTable::intern(std::uint32_t around, const std::string& loop, std::uint32_t entry,
                                 std::uint32_t iteration) {
  const auto name = loops_.emplace(loop, static_cast<std::uint32_t>(loops_.size())).first->second;
  const Round round{around, name, entry, iteration};
  const auto [known, is_new] = numbers_.emplace(round, static_cast<std::uint32_t>(rounds_.size()));
  if (is_new) rounds_.push_back(round);
  return known->second;
}

std::vector<RoundTable::Round> RoundTable::path(std::uint32_t number) const {
  std::vector<Round> result;
  for (; number != 0; number = rounds_[number].around) result.push_back(rounds_[number]);
  std::reverse(result.begin(), result.end());
  return result;
}

int RoundTable::compare(std::uint32_t x, std::uint32_t y) const {
  if (x == y) return 0;
  const std::vector<Round> of_x = path(x);
  const std::vector<Round> of_y = path(y);
  for (std::size_t i = 0; i < std::min(of_x.size(), of_y.size()); ++i) {
    if (of_x[i].loop != of_y[i].loop) return 0;
    const std::pair at_x{of_x[i].entry, of_x[i].iteration};
    const std::pair at_y{of_y[i].entry, of_y[i].iteration};
    if (at_x != at_y) return at_x < at_y ? -1 : 1;
  }
  return 0;
}

}  // namespace heddle::analysis
