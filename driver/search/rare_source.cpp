// SPDX-License-Identifier: Apache-2.0
//
// Greybox search by rarity: every second trial begins like an earlier one did up to something rare
// (ResumeStrategy), the others are partial order sampling. In the manner of AFLFast (Boehme, Pham,
// Roychoudhury, CCS 2016), which spends its effort on what few inputs reach, with the feedback of
// reads-from fuzzing (Wolff, Shi, Duck, Mathur, Roychoudhury, ASPLOS 2024).
//
// What is counted are chains: a read that saw another thread's write, together with the last such
// pair of the reading thread. Single pairs are all seen soon; a failure that needs many switches in
// the right order comes about step by step, and each step shows as a rare chain. What was written
// before the reader started is left out: it is there in every run.
#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "abi/names.h"
#include "driver/search/footprint.h"
#include "driver/search/trial_source.h"

namespace heddle::driver {
namespace {

using Decisions = std::vector<abi::PlanRecord>;

constexpr std::size_t kMostChains = 1024;
constexpr std::size_t kMostDecisions = 4096;  // of a run that is worth beginning again
constexpr int kRivals = 5;                    // of so many chains the rarest is taken

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
    if (trial.number % 2 == 0 && !chains_.empty()) {
      const Chain* rarest = &chains_[draw(chains_.size())];
      for (int i = 1; i < kRivals; ++i) {
        const Chain& rival = chains_[draw(chains_.size())];
        if (rival.count < rarest->count) rarest = &rival;
      }
      std::size_t length = rarest->prefix.size();
      if (draw(2) == 0) length = draw(length + 1);
      trial.plan.insert(trial.plan.end(), rarest->prefix.begin(),
                        rarest->prefix.begin() + static_cast<std::ptrdiff_t>(length));
    }
    return trial;
  }

  void observe(const Trial&, const Channel& channel, const News&) override {
    const auto decisions = channel.decisions();
    const Footprints footprints(channel);
    std::unordered_map<std::uint64_t, LastWrite> writes;
    std::vector<std::uint64_t> last_pair(channel.threads().size());
    std::vector<std::uint64_t> start(channel.threads().size());
    std::size_t decided = 0;
    std::uint64_t number = 0;
    for (const abi::EventRecord& event : channel.events()) {
      while (decided < decisions.size() && decisions[decided].event <= number) ++decided;
      ++number;
      if (decided > kMostDecisions) return;
      if (event.kind == abi::EventKind::ThreadStart) start[event.thread] = number;
      const Footprint footprint = footprints.of(event);
      if (footprint.memory == Touch::None || event.site < abi::kFirstSite) continue;
      const bool reads = abi::access_of(event.kind) != abi::Access::Write;
      for_each_unit(footprint, [&](std::uint64_t unit) {
        LastWrite& write = writes[unit];
        if (reads && write.thread != abi::kNoThread && write.thread != event.thread &&
            write.number > start[event.thread]) {
          const std::uint64_t pair = abi::path_hash(write.site, event.site);
          count(abi::path_hash(last_pair[event.thread], pair), channel, decided);
          last_pair[event.thread] = pair;
        }
        if (footprint.memory == Touch::Write && changes(event))
          write = {number, event.site, event.thread};
      });
    }
  }

 private:
  struct LastWrite {
    std::uint64_t number = 0;  // of the event, from 1
    abi::SiteId site = 0;
    abi::ThreadIndex thread = abi::kNoThread;
  };
  struct Chain {
    std::uint64_t count = 0;
    Decisions prefix;  // of a run, up to where it came about
  };

  /// A compare-exchange that fails writes nothing.
  static bool changes(const abi::EventRecord& event) {
    return abi::access_of(event.kind) != abi::Access::Update || event.value != event.aux;
  }

  std::uint64_t draw(std::uint64_t bound) {
    draw_ = abi::path_hash(draw_, 1);
    return (draw_ >> 11) % bound;
  }

  void count(std::uint64_t key, const Channel& channel, std::size_t decided) {
    const auto [at, is_new] = index_.try_emplace(key, chains_.size());
    if (is_new) {
      if (chains_.size() == kMostChains) {
        index_.erase(at);
        return;
      }
      chains_.emplace_back();
    }
    Chain& chain = chains_[at->second];
    ++chain.count;
    // Any of the runs that came to it, each about as likely.
    if (!is_new && draw(std::min<std::uint64_t>(chain.count, 1000)) != 0) return;
    chain.prefix.clear();
    const auto threads = channel.threads();
    for (std::size_t i = 0; i < decided; ++i) {
      const abi::DecisionRecord& record = channel.decisions()[i];
      abi::PlanRecord answer{};
      answer.kind = record.kind;
      answer.target = record.chosen;
      if (record.kind == abi::DecisionKind::Thread) {
        answer.target = record.chosen < threads.size() ? threads[record.chosen].hash : 0;
      }
      chain.prefix.push_back(answer);
    }
  }

  abi::Options options_;
  const std::vector<abi::PlanRecord> absent_;
  std::unordered_map<std::uint64_t, std::size_t> index_;  // of a chain in chains_
  std::vector<Chain> chains_;
  std::uint64_t last_ = 0;
  std::uint64_t draw_ = 0;
};

}  // namespace

std::unique_ptr<TrialSource> make_rare_source(const SearchSettings& settings) {
  return std::make_unique<RareSource>(settings);
}

}  // namespace heddle::driver
