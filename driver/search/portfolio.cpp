// SPDX-License-Identifier: Apache-2.0
//
// The search: one or several sources, what they share, and whose turn it is.
//
// The portfolio opens with a fixed sequence, since half of all failures come in the first five
// schedules of whatever is tried. Then it is a multi-armed bandit without chance: each source has a
// share of the trials, its own to begin with, more the more its recent trials brought (new
// reads-from pairs, new behaviours, failures), and the one furthest behind its share is next. Given
// the seed, one worker always does the same.
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "driver/search/narrowing.h"
#include "driver/search/trial_source.h"

namespace heddle::driver {
namespace {

constexpr std::string_view kNames[] = {"portfolio", "random", "pct",   "pos",   "urw",       "surw",
                                       "guided",    "rare",   "chess", "delay", "sequential"};

struct Member {
  const char* name;
  double weight;  // of its share, before anything has been learned
};

/// The default portfolio. Opening and weights are the best found for the counts of every strategy
/// by itself on the corpus (bench/search): SURW is seldom far from the best, guided and pos are
/// good where it is not, and what CHESS finds soon is in its first few schedules (decision 17).
constexpr Member kPortfolio[] = {{"guided", 0.54}, {"pos", 0.20},   {"surw", 0.12},
                                 {"urw", 0.12},    {"chess", 0.02}, {"rare", 0.001}};
/// Under TSO and PSO it is flushes whose order matters: what surw selects and guided asks for are
/// instructions. A flush costs CHESS nothing, so that few preemptions go far. Guided is for what
/// fails without store buffers, too.
constexpr Member kBuffered[] = {{"urw", 0.44},    {"chess", 0.28}, {"pos", 0.08},
                                {"guided", 0.14}, {"surw", 0.06},  {"rare", 0.001}};
/// By the first letters of the members.
constexpr std::string_view kOpening = "ssgsggscccgpcgucscggcpcgcucgcpcgc";
constexpr std::string_view kBufferedOpening =
    "ugcguccsgucugugsguguguguscuscgcucugcgcucugcgcucugcgcucugcgcucugcgcucug";

// A systematic search this close to the end of its bound is worth finishing: it never tries twice.
constexpr std::uint64_t kFewWaiting = 64;

// What so many trials did not find needs many switches in the right order: from then on the source
// that goes on from rare states has this weight, four times that of all others.
constexpr std::uint64_t kLongSearch = 20'000;
constexpr double kRareWeight = 4;

constexpr double kForgetting = 0.98;  // weight of the trial before, in what a source brought
constexpr double kFloor = 0.1;        // of a share whose trials bring nothing any more

struct Arm {
  std::string name;
  std::unique_ptr<TrialSource> source;
  StrategyStatus status;
  double weight = 1;
  double gain = 1;    // what recent trials brought
  double pulls = 1;   // and how many they were, both forgetting
  double credit = 0;  // trials it is behind its share
  double share() const {
    const double own = weight * (kFloor + gain / pulls);
    return source->open_bound() && source->waiting() < kFewWaiting ? 2 * own : own;
  }
};

bool is_systematic(const Arm& arm) {
  return arm.name == "chess" || arm.name == "delay" || arm.name == "rare";
}

class Portfolio final : public Search {
 public:
  explicit Portfolio(const SearchSettings& settings)
      : settings_(settings), narrowing_(settings.options) {
    for (const std::string& name : settings.strategies) {
      if (name == "portfolio") {
        add_portfolio();
      } else {
        add_arm(name, 1);
      }
    }
  }

  std::optional<Trial> next() override {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (std::optional<Trial> trial = take()) return trial;
      if (under_way_.empty()) return std::nullopt;
      changed_.wait(lock);
    }
  }

  void observe(const Trial& trial, const Channel& channel, bool failed) override {
    const std::scoped_lock lock(mutex_);
    const auto found = under_way_.find(trial.number);
    const Owner owner = found->second;
    under_way_.erase(found);
    // A look shows accesses at which no trial can switch threads: nothing to ask a strategy for.
    News news = Narrowing::is_look(trial) ? News{} : knowledge_.learn(channel);
    if (narrowing_.learn(trial, channel)) {
      knowledge_ = Knowledge();
      profile_ = Profile();
    }
    news.failed = failed;
    Arm& arm = arms_[owner.arm];
    arm.status.new_pairs += news.new_pairs;
    arm.status.failing += failed ? 1 : 0;
    const double gain =
        (news.new_pairs > 0 ? 1.0 : 0.0) + (news.new_behaviour ? 0.25 : 0.0) + (failed ? 1.0 : 0.0);
    arm.gain = arm.gain * kForgetting + gain;
    arm.pulls = arm.pulls * kForgetting + 1;
    Trial own = trial;
    own.number = owner.number;
    arm.source->observe(own, channel, news);
    changed_.notify_all();
  }

  bool narrow(Trial& trial, const Channel& channel) override {
    const std::scoped_lock lock(mutex_);
    return narrowing_.narrow(trial, channel);
  }

  const abi::Options& options() const override { return settings_.options; }

  void see_everything() override {
    const std::scoped_lock lock(mutex_);
    narrowing_.see_everything();
  }

  std::optional<std::uint32_t> exhausted_bound() const override {
    const std::scoped_lock lock(mutex_);
    std::optional<std::uint32_t> bound;
    for (const Arm& arm : arms_) {
      if (const auto found = arm.source->exhausted_bound()) bound = found;
    }
    return bound;
  }

  SearchStatus status() const override {
    const std::scoped_lock lock(mutex_);
    SearchStatus status;
    status.pairs = knowledge_.pairs();
    status.behaviours = knowledge_.behaviours();
    status.mean_events = knowledge_.mean_events();
    for (const Arm& arm : arms_) {
      status.strategies.push_back(arm.status);
      if (const auto bound = arm.source->exhausted_bound()) status.exhausted = bound;
      if (const auto bound = arm.source->open_bound()) {
        status.bound = bound;
        status.waiting = arm.source->waiting();
      }
    }
    return status;
  }

 private:
  struct Owner {
    std::size_t arm;
    std::uint64_t number;  // the source's own
  };

  void add_portfolio() {
    const bool buffered = std::strcmp(settings_.options.memory_model, "sc") != 0;
    for (const Member& member : buffered ? kBuffered : kPortfolio) {
      add_arm(member.name, member.weight);
    }
    for (const char initial : buffered ? kBufferedOpening : kOpening) {
      for (std::size_t i = 0; i < arms_.size(); ++i) {
        if (arms_[i].name.front() == initial) opening_.push_back(i);
      }
    }
  }

  void add_arm(const std::string& name, double weight) {
    for (const Arm& arm : arms_) {
      if (arm.name == name) throw user_error(fmt::format("--strategy: '{}' stands twice", name));
    }
    Arm arm;
    arm.name = arm.status.name = name;
    arm.weight = weight;
    if (name == "chess") {
      arm.source = make_bounded_source(settings_, Cost::Preemptions, settings_.max_preemptions);
    } else if (name == "delay") {
      arm.source = make_bounded_source(settings_, Cost::Delays, settings_.max_delays);
    } else if (name == "urw" || name == "surw") {
      arm.source = make_weighted_source(settings_, name == "surw", knowledge_, profile_);
    } else if (name == "guided") {
      arm.source = make_guided_source(settings_, knowledge_);
    } else if (name == "rare") {
      arm.source = make_rare_source(settings_);
    } else if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) {
      arm.source = make_seeded_source(settings_, name.c_str(), knowledge_);
    } else {
      throw user_error(fmt::format("--strategy: explore has no '{}'; there are: {}", name,
                                   fmt::join(kNames, ", ")));
    }
    arms_.push_back(std::move(arm));
  }

  double share_of(const Arm& arm) const {
    if (last_ > kLongSearch && arm.name == "rare") return kRareWeight / arm.weight * arm.share();
    return arm.share();
  }

  /// The opening's next, or else from the source furthest behind its share that has a trial;
  /// nothing if none has.
  std::optional<Trial> take() {
    if (last_ < opening_.size()) {
      if (std::optional<Trial> trial = take_from(opening_[last_])) return trial;
    }
    double total = 0;
    for (const Arm& arm : arms_) total += share_of(arm);
    std::vector<std::size_t> order(arms_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto claim = [&](std::size_t i) { return arms_[i].credit + share_of(arms_[i]) / total; };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return claim(a) != claim(b) ? claim(a) > claim(b) : a < b;
    });
    for (const std::size_t i : order) {
      std::optional<Trial> trial = take_from(i);
      if (!trial) continue;
      for (Arm& arm : arms_) arm.credit += share_of(arm) / total;
      arms_[i].credit -= 1;
      return trial;
    }
    return std::nullopt;
  }

  /// Systematic sources see everything, or do not know what is left to try: in large executions
  /// they would take all the time, and not get anywhere, while the others need not.
  bool is_left_out(const Arm& arm) const {
    return narrowing_.overlooks() && is_systematic(arm) &&
           !std::ranges::all_of(arms_, is_systematic);
  }

  std::optional<Trial> take_from(std::size_t i) {
    if (is_left_out(arms_[i])) return std::nullopt;
    std::optional<Trial> trial = arms_[i].source->next();
    if (!trial) return std::nullopt;
    ++arms_[i].status.trials;
    const Owner owner{i, trial->number};
    trial->number = ++last_;
    narrowing_.apply(*trial, knowledge_);
    under_way_.emplace(trial->number, owner);
    return trial;
  }

  const SearchSettings settings_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Knowledge knowledge_;
  Profile profile_;
  Narrowing narrowing_;
  std::vector<Arm> arms_;
  std::vector<std::size_t> opening_;                    // which arm has trial 1, 2, ...
  std::unordered_map<std::uint64_t, Owner> under_way_;  // by trial number
  std::uint64_t last_ = 0;
};

}  // namespace

std::vector<std::string_view> strategy_names() {
  return {std::begin(kNames), std::end(kNames)};
}

std::unique_ptr<Search> make_search(const SearchSettings& settings) {
  return std::make_unique<Portfolio>(settings);
}

}  // namespace heddle::driver
