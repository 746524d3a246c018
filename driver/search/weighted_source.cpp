// SPDX-License-Identifier: Apache-2.0
//
// Trials of urw and surw: counts of a recent run go with each of them. The first trial has no
// counts to go by and serves as the profiling run.
#include <cstring>

#include "driver/search/trial_source.h"

namespace heddle::driver {
namespace {

abi::PlanRecord weight(const ThreadProfile& thread, std::uint64_t count) {
  abi::PlanRecord record{};
  record.kind = abi::DecisionKind::Weight;
  record.thread = thread.hash;
  record.target = thread.parent;
  record.occurrence = static_cast<std::uint32_t>(count);
  return record;
}

class WeightedSource final : public TrialSource {
 public:
  WeightedSource(const SearchSettings& settings, bool selective, const Knowledge& knowledge,
                 Profile& profile)
      : options_(settings.options),
        absent_(settings.absent),
        selective_(selective),
        knowledge_(knowledge),
        profile_(profile) {
    std::strcpy(options_.strategy, selective ? "surw" : "urw");
  }

  std::optional<Trial> next() override {
    Trial trial{++last_, options_, absent_};
    trial.options.seed = trial_seed(options_.seed, trial.number);
    if (selective_) {
      add_selection(trial);
    } else {
      for (const ThreadProfile& thread : profile_.threads()) {
        trial.plan.push_back(weight(thread, thread.events));
      }
    }
    return trial;
  }

  void observe(const Trial& trial, const Channel& channel, const News&) override {
    // What is seen beyond the scheduling points is not counted when the trial is done, either.
    if (trial.options.see_events == 0) profile_.learn(channel);
  }

 private:
  /// The sites of one shared location, a different one in each trial.
  void add_selection(Trial& trial) const {
    const auto& locations = knowledge_.shared_locations();
    if (locations.empty()) return;
    const std::uint64_t drawn = abi::path_hash(trial.options.seed, locations.size());
    const std::vector<abi::SiteId>& sites = locations[drawn % locations.size()];
    for (const abi::SiteId site : sites) {
      abi::PlanRecord record{};
      record.kind = abi::DecisionKind::Select;
      record.site = site;
      trial.plan.push_back(record);
    }
    for (const ThreadProfile& thread : profile_.threads()) {
      std::uint64_t count = 0;
      for (const abi::SiteId site : sites) {
        if (const auto found = thread.sites.find(site); found != thread.sites.end()) {
          count += found->second;
        }
      }
      trial.plan.push_back(weight(thread, count));
    }
  }

  abi::Options options_;
  const std::vector<abi::PlanRecord> absent_;
  const bool selective_;
  const Knowledge& knowledge_;
  Profile& profile_;
  std::uint64_t last_ = 0;
};

}  // namespace

std::unique_ptr<TrialSource> make_weighted_source(const SearchSettings& settings, bool selective,
                                                  const Knowledge& knowledge, Profile& profile) {
  return std::make_unique<WeightedSource>(settings, selective, knowledge, profile);
}

}  // namespace heddle::driver
