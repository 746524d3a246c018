// SPDX-License-Identifier: Apache-2.0
//
// Reads-from fuzzing (Wolff, Shi, Duck, Mathur, Roychoudhury, ASPLOS 2024), kept small: a trial
// asks for a list of reads-from pairs. Lists that brought something new are kept and changed
// further, those used least first; what is added is preferably a pair that was never seen.
//
// Deviations: a pair is forbidden by asking for the read to come before any such write, and the
// pairs of a trial are counted by site.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "driver/search/trial_source.h"

namespace heddle::driver {
namespace {

constexpr std::size_t kMostWishes = 6;
constexpr std::size_t kMostEntries = 512;

class GuidedSource final : public TrialSource {
 public:
  GuidedSource(const SearchSettings& settings, const Knowledge& knowledge)
      : options_(settings.options), absent_(settings.absent), knowledge_(knowledge), corpus_(1) {
    std::strcpy(options_.strategy, "guided");
  }

  std::optional<Trial> next() override {
    Trial trial{++last_, options_, absent_};
    trial.options.seed = trial_seed(options_.seed, trial.number);
    draw_ = abi::path_hash(trial.options.seed, trial.number);
    std::vector<Wish> wishes = propose();
    for (const Wish& wish : wishes) {
      abi::PlanRecord record{};
      record.kind = wish.kind;
      record.site = wish.pair.read;
      record.target = wish.kind == abi::DecisionKind::ReadsEarly
                          ? knowledge_.entry_to(wish.pair.write)
                          : wish.pair.write;
      trial.plan.push_back(record);
    }
    under_way_.emplace(trial.number, std::move(wishes));
    return trial;
  }

  void observe(const Trial& trial, const Channel&, const News& news) override {
    const auto found = under_way_.find(trial.number);
    if (found == under_way_.end()) return;
    // A new behaviour alone is worth keeping as long as there are few.
    const bool keeps = news.new_pairs > 0 || (news.new_behaviour && corpus_.size() < 32);
    if (keeps && corpus_.size() < kMostEntries && !found->second.empty()) {
      corpus_.push_back({std::move(found->second), 0});
    }
    under_way_.erase(found);
  }

 private:
  struct Wish {
    abi::DecisionKind kind;  // ReadsFrom or ReadsEarly
    ReadsFrom pair;
  };
  struct Entry {
    std::vector<Wish> wishes;
    std::uint64_t uses = 0;
  };

  std::uint64_t draw(std::uint64_t bound) {
    draw_ = abi::path_hash(draw_, 1);
    return (draw_ >> 11) % bound;
  }

  /// Every pair that was seen is once forbidden by itself, in every other trial from the first on
  /// in which something has been seen, be it by another source; the rest are changed.
  std::vector<Wish> propose() {
    const auto& seen = knowledge_.seen_pairs();
    forbids_ = !forbids_ && forbidden_ < seen.size();
    if (forbids_) return {{abi::DecisionKind::ReadsEarly, seen[forbidden_++]}};
    Entry& entry =
        *std::min_element(corpus_.begin(), corpus_.end(),
                          [](const Entry& a, const Entry& b) { return a.uses < b.uses; });
    ++entry.uses;
    std::vector<Wish> wishes = entry.wishes;
    change(wishes);
    return wishes;
  }

  void change(std::vector<Wish>& wishes) {
    const auto& unseen = knowledge_.unseen_pairs();
    const auto& seen = knowledge_.seen_pairs();
    if (unseen.empty() && seen.empty()) return;
    if (!wishes.empty() && draw(4) == 0) {
      wishes.erase(wishes.begin() + static_cast<std::ptrdiff_t>(draw(wishes.size())));
    }
    const std::uint64_t additions = 1 + draw(2);
    for (std::uint64_t i = 0; i < additions && wishes.size() < kMostWishes; ++i) {
      const bool take_unseen = seen.empty() || (!unseen.empty() && draw(2) == 0);
      const auto& from = take_unseen ? unseen : seen;
      const auto kind = draw(4) == 0 ? abi::DecisionKind::ReadsEarly : abi::DecisionKind::ReadsFrom;
      wishes.push_back({kind, from[draw(from.size())]});
    }
  }

  abi::Options options_;
  const std::vector<abi::PlanRecord> absent_;
  const Knowledge& knowledge_;
  std::vector<Entry> corpus_;
  std::unordered_map<std::uint64_t, std::vector<Wish>> under_way_;
  std::size_t forbidden_ = 0;  // how many of the seen pairs were, once
  bool forbids_ = false;       // what the last trial did
  std::uint64_t last_ = 0;
  std::uint64_t draw_ = 0;
};

}  // namespace

std::unique_ptr<TrialSource> make_guided_source(const SearchSettings& settings,
                                                const Knowledge& knowledge) {
  return std::make_unique<GuidedSource>(settings, knowledge);
}

}  // namespace heddle::driver
