// SPDX-License-Identifier: Apache-2.0
//
// A set of thread indices: small, fixed, and ordered, so that a choice among its members is the
// same number in every run.
#pragma once

#include <bit>
#include <cstdint>

#include "abi/channel.h"

namespace heddle::runtime {

class ThreadSet {
 public:
  using Index = abi::ThreadIndex;

  bool contains(Index i) const { return ((words_[i / 64] >> (i % 64)) & 1) != 0; }
  std::uint32_t count() const { return count_; }
  std::uint64_t first_word() const { return words_[0]; }

  void insert(Index i) {
    if (contains(i)) return;
    words_[i / 64] |= std::uint64_t{1} << (i % 64);
    ++count_;
  }

  void erase(Index i) {
    if (!contains(i)) return;
    words_[i / 64] &= ~(std::uint64_t{1} << (i % 64));
    --count_;
  }

  /// The n-th smallest member, n < count().
  Index nth(std::uint32_t n) const {
    for (Index word = 0;; ++word) {
      std::uint64_t bits = words_[word];
      const auto here = static_cast<std::uint32_t>(std::popcount(bits));
      if (n >= here) {
        n -= here;
        continue;
      }
      // Always as many steps: a loop that ends at a random number is guessed wrongly.
#pragma clang loop unroll(disable)  // they are few
      for (std::uint32_t i = 1; i < here; ++i) bits = i <= n ? bits & (bits - 1) : bits;
      return static_cast<Index>(word * 64 + static_cast<Index>(__builtin_ctzll(bits)));
    }
  }

  /// Every member, in order.
  template <typename Visit>
  void for_each(Visit visit) const {
    std::uint32_t left = count_;
    for (Index word = 0; left != 0; ++word) {
      for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1, --left) {
        visit(static_cast<Index>(word * 64 + std::countr_zero(bits)));
      }
    }
  }

 private:
  std::uint64_t words_[abi::kMaxThreads / 64] = {};
  std::uint32_t count_ = 0;
};

}  // namespace heddle::runtime
