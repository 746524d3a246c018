// SPDX-License-Identifier: Apache-2.0
//
// The only source of chance in a run: a strategy that draws from it is repeated by its seed.
#pragma once

#include <cstdint>

namespace heddle::runtime {

/// SplitMix64 (Steele, Lea, Flood 2014): one word of state, and neighbouring seeds are unrelated.
class Random {
 public:
  void seed(std::uint64_t seed) { state_ = seed; }

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ull;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
  }

  /// Uniform in [0, bound), bound > 0.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

  /// Uniform in [0, bound), bound > 0 and below 2^53.
  std::uint64_t below_large(std::uint64_t bound) {
    return static_cast<std::uint64_t>(static_cast<double>(next() >> 11) * 0x1p-53 *
                                      static_cast<double>(bound));
  }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace heddle::runtime
