// SPDX-License-Identifier: Apache-2.0
//
// How much each thread still has before it, by the counts of an earlier run (plan records of kind
// Weight): what it will do itself, and what the threads will do that it has yet to create.
#pragma once

#include "runtime/base/vector.h"
#include "runtime/schedule/strategy.h"

namespace heddle::runtime {

class ThreadWeights {
 public:
  void begin_run(Plan plan);
  /// What a new thread takes over from the one it was counted with until now.
  struct Share {
    abi::ThreadIndex from = abi::kNoThread;
    std::uint64_t taken = 0;
    std::uint64_t of = 0;
  };
  bool knows(abi::ThreadIndex thread) const { return known_[thread]; }
  /// To be called once with every thread, before it is asked about.
  Share meet(abi::ThreadIndex thread, std::uint64_t hash);
  /// One of the operations that were counted is being carried out.
  void spend(abi::ThreadIndex thread);
  /// 0 for a thread that has done all that the earlier run saw it do.
  std::uint64_t left(abi::ThreadIndex thread) const { return left_[thread]; }
  /// One past the largest index met.
  std::uint32_t met() const { return met_; }

 private:
  struct Row {
    std::uint64_t thread;
    std::uint64_t parent;
    std::uint64_t total;  // its own and its descendants'
    std::uint32_t index;  // + 1; 0: not met
  };
  Row* find(std::uint64_t hash);

  Vector<Row> rows_;
  std::uint64_t left_[abi::kMaxThreads] = {};
  bool known_[abi::kMaxThreads] = {};
  std::uint32_t met_ = 0;
};

}  // namespace heddle::runtime
