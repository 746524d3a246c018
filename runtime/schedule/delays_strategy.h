// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/vector.h"
#include "runtime/schedule/random.h"
#include "runtime/schedule/strategy.h"

namespace heddle::runtime {

/// Every thread has a processor of its own and a clock: each operation takes a unit of time, and
/// before some of them the thread is held up for a random time. Whose clock is behind goes on. What
/// native runs with random delays at shared accesses do (LOCON, 4.4), but repeated by its seed.
class DelaysStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;

 private:
  struct Processor {
    std::uint64_t clock = 0;
    std::uint64_t seen = 0;  // the last choice at which its thread could go on
  };
  Processor& processor(abi::ThreadIndex thread);
  std::uint64_t delay();

  Random random_;
  Vector<Processor> processors_;
  std::uint64_t choices_ = 0;
  std::uint64_t now_ = 0;
};

}  // namespace heddle::runtime
