// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <utility>

#include "driver/search/search.h"

namespace heddle::driver {
namespace {

class SeededSearch final : public Search {
 public:
  SeededSearch(const abi::Options& options, std::vector<abi::PlanRecord> absent)
      : options_(options), absent_(std::move(absent)) {}

  std::optional<Trial> next() override {
    Trial trial{++last_, options_, absent_};
    // The first trial has the user's seed itself: `heddle run --seed N` does the same again.
    if (trial.number > 1) trial.options.seed = abi::path_hash(options_.seed, trial.number);
    return trial;
  }

  void observe(const Trial&, const Channel&) override {}

 private:
  const abi::Options options_;
  const std::vector<abi::PlanRecord> absent_;
  std::atomic<std::uint64_t> last_ = 0;
};

}  // namespace

std::unique_ptr<Search> make_seeded_search(const abi::Options& options,
                                           std::vector<abi::PlanRecord> absent) {
  return std::make_unique<SeededSearch>(options, std::move(absent));
}

}  // namespace heddle::driver
