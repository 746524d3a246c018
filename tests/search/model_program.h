// SPDX-License-Identifier: Apache-2.0
//
// A program reduced to what a search sees of it: threads that do fixed lists of operations. It runs
// under the runtime's own strategies and leaves events and decisions in a real channel, thousands
// of times a second, so that searches can be compared exhaustively.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/channel.h"
#include "driver/search/search.h"
#include "runtime/schedule/strategy.h"

namespace heddle::search_model {

struct Step {
  enum Kind { Read, Write, Lock, Unlock, Yield, Sleep, AwaitValue, Exit } kind;
  std::uint32_t location = 0;  // variable or mutex
  std::uint64_t value = 0;     // written, or waited for by reading again and again
};

struct ModelProgram {
  /// Each thread ends with an event of its own, as real ones do.
  std::vector<std::vector<Step>> threads;  // thread 0 runs beside the others, which exist at once
  /// Judges what each thread read, in order; true: the program fails.
  std::function<bool(const std::vector<std::vector<std::uint64_t>>&)> fails = [](const auto&) {
    return false;
  };
};

struct ModelRun {
  std::vector<abi::ThreadIndex> order;            // who did each event
  std::vector<std::vector<std::uint64_t>> reads;  // by thread
  bool deadlock = false;
  bool diverged = false;
  bool endless = false;
  bool failed = false;
  /// What the run amounts to: everything any thread could have noticed.
  std::string outcome() const;
};

class Model {
 public:
  explicit Model(ModelProgram program);
  ModelRun run(const abi::Options& options, const std::vector<abi::PlanRecord>& plan);
  ModelRun run(const driver::Trial& trial) { return run(trial.options, trial.plan); }
  const driver::Channel& channel() const { return channel_; }

 private:
  ModelProgram program_;
  driver::Channel channel_;
};

/// Options with the given strategy and seed.
abi::Options options(const std::string& strategy, std::uint64_t seed = 1);

}  // namespace heddle::search_model
