// SPDX-License-Identifier: Apache-2.0
//
// One way of choosing the next schedule. Sources are called by the search that owns them, one call
// at a time; what all of them have learned is in Knowledge.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "driver/search/knowledge.h"
#include "driver/search/profile.h"
#include "driver/search/search.h"

namespace heddle::driver {

class TrialSource {
 public:
  virtual ~TrialSource() = default;
  /// Its next trial, numbered by itself from 1. Nothing: none at present, or none any more.
  virtual std::optional<Trial> next() = 0;
  /// What became of a trial of its own, under the number it gave.
  virtual void observe(const Trial&, const Channel&, const News&) {}
  virtual std::optional<std::uint32_t> exhausted_bound() const { return std::nullopt; }
  virtual std::optional<std::uint32_t> open_bound() const { return std::nullopt; }
  virtual std::uint64_t waiting() const { return 0; }
};

/// Independent trials of one of the runtime's strategies that differ in their seed.
std::unique_ptr<TrialSource> make_seeded_source(const SearchSettings& settings,
                                                const char* strategy, const Knowledge& knowledge);

/// The same for strategies that need counts of an earlier run: urw, surw. What they count goes into
/// `profile`, which several may share.
std::unique_ptr<TrialSource> make_weighted_source(const SearchSettings& settings, bool selective,
                                                  const Knowledge& knowledge, Profile& profile);

/// Trials that ask for reads-from pairs, preferably such as no trial had.
std::unique_ptr<TrialSource> make_guided_source(const SearchSettings& settings,
                                                const Knowledge& knowledge);

/// Trials that begin like an earlier one did up to something rare.
std::unique_ptr<TrialSource> make_rare_source(const SearchSettings& settings);

/// What a systematic search counts, and bounds.
enum class Cost { Preemptions, Delays };

/// Every schedule of at most `bound` cost, the cheaper first: iterative preemption bounding
/// (Musuvathi and Qadeer, PLDI 2007) or delay bounding (Emmi, Qadeer, Rakamaric, POPL 2011).
std::unique_ptr<TrialSource> make_bounded_source(const SearchSettings& settings, Cost cost,
                                                 std::uint32_t bound);

/// The seed of a source's n-th trial; the first has the user's own, so that `heddle run --seed N`
/// does the same again.
inline std::uint64_t trial_seed(std::uint64_t seed, std::uint64_t number) {
  return number == 1 ? seed : abi::path_hash(seed, number);
}

}  // namespace heddle::driver
