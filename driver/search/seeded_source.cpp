// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "driver/search/trial_source.h"

namespace heddle::driver {
namespace {

class SeededSource final : public TrialSource {
 public:
  SeededSource(const SearchSettings& settings, const char* strategy, const Knowledge& knowledge)
      : options_(settings.options), absent_(settings.absent), knowledge_(knowledge) {
    std::strcpy(options_.strategy, strategy);
  }

  std::optional<Trial> next() override {
    Trial trial{++last_, options_, absent_};
    trial.options.seed = trial_seed(options_.seed, trial.number);
    if (trial.options.length == 0) trial.options.length = knowledge_.length();
    return trial;
  }

 private:
  abi::Options options_;
  const std::vector<abi::PlanRecord> absent_;
  const Knowledge& knowledge_;
  std::uint64_t last_ = 0;
};

/// The sequential schedule has no seed: there is one.
class SequentialSource final : public TrialSource {
 public:
  explicit SequentialSource(const SearchSettings& settings)
      : trial_(Trial{1, settings.options, settings.absent}) {
    std::strcpy(trial_->options.strategy, "sequential");
  }
  std::optional<Trial> next() override {
    std::optional<Trial> trial;
    trial.swap(trial_);
    return trial;
  }

 private:
  std::optional<Trial> trial_;
};

}  // namespace

std::unique_ptr<TrialSource> make_seeded_source(const SearchSettings& settings,
                                                const char* strategy, const Knowledge& knowledge) {
  if (std::strcmp(strategy, "sequential") == 0) return std::make_unique<SequentialSource>(settings);
  return std::make_unique<SeededSource>(settings, strategy, knowledge);
}

}  // namespace heddle::driver
