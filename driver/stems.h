// SPDX-License-Identifier: Apache-2.0
//
// Executions that have their first events in common need not all do them: one of them does, and the
// others begin where it stood then (abi::Stem). Which have what in common is for the caller to say;
// this decides where it pays, for each target.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "analysis/oracle.h"
#include "driver/target.h"

namespace heddle::driver {

class Stems {
 public:
  /// Fewer events than this are done again in less time than it takes to make another process.
  static constexpr std::uint64_t kWorth = 500;
  using Start = std::function<std::unique_ptr<Target>()>;

  explicit Stems(Start start) : start_(std::move(start)) {}

  struct Next {
    std::uint64_t number;
    Target& target;
  };
  /// The next execution has this in common with an earlier one: its number, and where to execute it
  /// so that a stem of the target outlives it. To be called by the thread that has the target.
  Next before(Target& target, const analysis::Common& common);
  /// An execution that before() was not asked about has this in common with an earlier one: its
  /// number.
  std::uint64_t add(const analysis::Common& common);
  /// That execution is over. Returns how many events it did not have to do.
  std::uint64_t after(const Target& target);

  /// The executions of the target from here on, up to the next call of before(), have the events of
  /// `common` in common, and there is one thread only. They are those of another strategy.
  void begin_search(Target& target, const analysis::Common& common);
  /// One of them is over.
  void after_searched(Target& target);
  /// The next execution of the target begins at the beginning.
  void begin_at_beginning(Target& target);

 private:
  struct Stem {
    std::uint64_t execution = 0;  // that did it first; 0: one of another strategy
    std::uint64_t events = 0;     // 0: there is none
    std::uint64_t missed = 0;     // events that a longer one would have saved so far
    bool is_new = false;
    unsigned in_vain = 0;  // executions in a row for which it was not there
  };
  static constexpr unsigned kPatience = 4;

  std::uint64_t in_common(std::uint64_t one, std::uint64_t two) const;
  static void set(Target& target, Stem& stem, std::uint64_t execution, std::uint64_t events);

  const Start start_;
  std::mutex mutex_;
  std::vector<analysis::Common> executions_;  // by number, from 1
  std::map<const Target*, Stem> stems_;
  std::map<const Target*, std::unique_ptr<Target>> beside_;
};

}  // namespace heddle::driver
