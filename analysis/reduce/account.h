// SPDX-License-Identifier: Apache-2.0
//
// What a reduction took away and what it had to leave, in the words of the original run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/reduce/projection.h"
#include "analysis/reduce/trials.h"

namespace heddle::analysis {

class Account {
 public:
  explicit Account(const Attempt& original) : original_(original) {}

  /// Without this thread, or this iteration, it came to this.
  void keep(const std::string& thread, Verdict verdict, const std::string& signature);
  void keep(const Iteration& iteration, Verdict verdict, const std::string& signature);

  /// Threads and blocks of the original run, given what is left in the end.
  std::vector<AccountEntry> entries(const Attempt& best) const;

 private:
  trace::Frame created_at(const std::string& thread) const;
  trace::Frame block_at(const std::string& site) const;
  std::uint64_t events_of(std::vector<Iteration> iterations) const;

  const Attempt& original_;
  std::map<std::string, std::string> why_thread_;
  std::map<Iteration, std::string> why_iteration_;
};

}  // namespace heddle::analysis
