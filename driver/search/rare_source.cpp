// SPDX-License-Identifier: Apache-2.0
//
// Greybox search by rarity: every second trial begins like an earlier one did up to a state that
// few have been in (ResumeStrategy), the others are partial order sampling. In the manner of
// AFLFast (Boehme, Pham, Roychoudhury, CCS 2016), which spends its effort on what few inputs reach,
// and of Go-Explore (Ecoffet et al., Nature 2021), which first returns to such a state and then
// explores.
//
// A state is what the program's memory holds and where each thread has come to. A failure that
// needs many switches in the right order comes about step by step, and each step leads to rarer
// states; going on from those makes the next one about as likely as the first was.
#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "abi/names.h"
#include "driver/search/footprint.h"
#include "driver/search/trial_source.h"

namespace heddle::driver {
namespace {

// Beyond these a search remembers no more: some 200 MB.
constexpr std::size_t kMostStates = 1 << 20;
constexpr std::size_t kMostKeptDecisions = 1 << 26;

constexpr std::size_t kLongestRun = 4096;  // decisions of a run that is worth beginning again
constexpr int kRivals = 5;                 // of so many states the rarest is taken
constexpr std::uint16_t kIsValue = 0x8000;

/// Names the state after each event of a run.
class StateName {
 public:
  explicit StateName(const Channel& channel)
      : footprints_(channel), positions_(channel.threads().size()) {}

  std::uint64_t after(const abi::EventRecord& event) {
    const std::uint64_t thread = footprints_.thread_hash(event.thread);
    replace(positions_[event.thread], abi::path_hash(thread, event.site));
    const Footprint footprint = footprints_.of(event);
    if (footprint.memory != Touch::Write) return name_;
    for_each_unit(footprint, [&](std::uint64_t unit) {
      replace(memory_[unit], abi::path_hash(unit, event.value));
    });
    return name_;
  }

 private:
  void replace(std::uint64_t& part, std::uint64_t by) {
    name_ += by - part;
    part = by;
  }

  const Footprints footprints_;
  std::vector<std::uint64_t> positions_;
  std::unordered_map<std::uint64_t, std::uint64_t> memory_;
  std::uint64_t name_ = 0;
};

class RareSource final : public TrialSource {
 public:
  explicit RareSource(const SearchSettings& settings)
      : options_(settings.options), absent_(settings.absent) {
    std::strcpy(options_.strategy, "resume");
  }

  std::optional<Trial> next() override {
    Trial trial{++last_, options_, absent_};
    trial.options.seed = trial_seed(options_.seed, trial.number);
    draw_ = abi::path_hash(trial.options.seed, trial.number);
    if (trial.number % 2 == 0 && !states_.empty()) begin_like_rare(trial);
    return trial;
  }

  void observe(const Trial&, const Channel& channel, const News&) override {
    const auto decisions = channel.decisions();
    if (decisions.size() > kLongestRun) return;
    StateName name(channel);
    std::uint32_t run = kNoRun;
    std::size_t decided = 0;
    std::uint64_t number = 0;
    for (const abi::EventRecord& event : channel.events()) {
      ++number;
      const std::uint64_t state = name.after(event);
      const std::size_t before = decided;
      while (decided < decisions.size() && decisions[decided].event <= number) ++decided;
      if (decided > before) count(state, channel, before, run);
    }
  }

 private:
  static constexpr std::uint32_t kNoRun = ~std::uint32_t{0};

  struct State {
    std::uint32_t count = 0;
    std::uint32_t run = kNoRun;  // one that was in it
    std::uint32_t length = 0;    // after so many decisions
  };

  std::uint64_t draw(std::uint64_t bound) {
    draw_ = abi::path_hash(draw_, 1);
    return (draw_ >> 11) % bound;
  }

  void begin_like_rare(Trial& trial) {
    const State* rarest = &states_[draw(states_.size())];
    for (int i = 1; i < kRivals; ++i) {
      const State& rival = states_[draw(states_.size())];
      if (rival.count < rarest->count) rarest = &rival;
    }
    const std::vector<std::uint16_t>& run = runs_[rarest->run];
    for (std::size_t i = 0; i < rarest->length; ++i) {
      const bool is_value = (run[i] & kIsValue) != 0;
      abi::PlanRecord answer{};
      answer.kind = is_value ? abi::DecisionKind::Value : abi::DecisionKind::Thread;
      answer.target = is_value ? run[i] & ~kIsValue : threads_[run[i]];
      trial.plan.push_back(answer);
    }
  }

  /// The run was in this state before its decision `length`, counted from 0.
  void count(std::uint64_t name, const Channel& channel, std::size_t length, std::uint32_t& run) {
    const auto found = index_.find(name);
    if (found != index_.end()) {
      State& state = states_[found->second];
      ++state.count;
      // Any of the runs that came to it, each about as likely.
      if (draw(std::min<std::uint64_t>(state.count, 1000)) == 0)
        remember(state, channel, length, run);
      return;
    }
    if (states_.size() == kMostStates) return;
    State state{1, kNoRun, 0};
    if (!remember(state, channel, length, run)) return;
    index_.emplace(name, states_.size());
    states_.push_back(state);
  }

  bool remember(State& state, const Channel& channel, std::size_t length, std::uint32_t& run) {
    if (run == kNoRun && !keep(channel, run)) return false;
    state.run = run;
    state.length = static_cast<std::uint32_t>(length);
    return true;
  }

  bool keep(const Channel& channel, std::uint32_t& run) {
    if (kept_ + channel.decisions().size() > kMostKeptDecisions) return false;
    std::vector<std::uint16_t> answers;
    answers.reserve(channel.decisions().size());
    const auto threads = channel.threads();
    for (const abi::DecisionRecord& record : channel.decisions()) {
      const bool is_value = record.kind == abi::DecisionKind::Value;
      const std::size_t answer = is_value ? record.chosen : number_of(threads[record.chosen].hash);
      if (answer >= kIsValue) return false;
      answers.push_back(static_cast<std::uint16_t>(is_value ? answer | kIsValue : answer));
    }
    kept_ += answers.size();
    run = static_cast<std::uint32_t>(runs_.size());
    runs_.push_back(std::move(answers));
    return true;
  }

  std::size_t number_of(std::uint64_t thread) {
    const auto [at, is_new] = thread_numbers_.try_emplace(thread, threads_.size());
    if (is_new) threads_.push_back(thread);
    return at->second;
  }

  abi::Options options_;
  const std::vector<abi::PlanRecord> absent_;
  std::unordered_map<std::uint64_t, std::size_t> index_;  // of a state in states_, by name
  std::vector<State> states_;
  std::vector<std::vector<std::uint16_t>> runs_;                   // answers to their decisions
  std::size_t kept_ = 0;                                           // answers, of all runs
  std::unordered_map<std::uint64_t, std::size_t> thread_numbers_;  // by path hash
  std::vector<std::uint64_t> threads_;                             // path hashes
  std::uint64_t last_ = 0;
  std::uint64_t draw_ = 0;
};

}  // namespace

std::unique_ptr<TrialSource> make_rare_source(const SearchSettings& settings) {
  return std::make_unique<RareSource>(settings);
}

}  // namespace heddle::driver
