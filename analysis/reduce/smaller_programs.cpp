// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/smaller_programs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/reduce/relevance.h"

namespace heddle::analysis {
namespace {

using Threads = std::set<std::string>;

/// Of the others, so many are tried in pairs: those that have most to do with the failure.
constexpr std::size_t kPaired = 4;

class SmallerPrograms {
 public:
  SmallerPrograms(const Attempt& run, const LeftOut& already) : run_(run), already_(already) {
    for (std::string& thread : threads_by_relevance(run.trace)) {
      if (!is_gone(thread)) present_.push_back(std::move(thread));
    }
    find_involved();
  }

  std::vector<LeftOut> all() {
    std::vector<std::string> others;
    for (const std::string& thread : present_) {
      if (!involved_.contains(thread)) others.push_back(thread);
    }
    for (const std::string& other : others) add_with({other});
    const std::size_t paired = std::min(others.size(), kPaired);
    for (std::size_t i = 0; i < paired; ++i) {
      for (std::size_t j = i + 1; j < paired; ++j) add_with({others[i], others[j]});
    }
    add(without_iterations(already_));
    for (auto other = others.rbegin(); other != others.rend(); ++other) {
      if (present_.size() < 2) break;  // a thread alone has nobody to race with
      LeftOut without = already_;
      without.threads.push_back(*other);
      add(std::move(without));
    }
    return std::move(result_);
  }

 private:
  bool is_gone(const std::string& thread) const {
    return std::any_of(already_.threads.begin(), already_.threads.end(),
                       [&](const std::string& gone) { return is_part_of(thread, gone); });
  }

  void find_involved() {
    const trace::Trace& trace = run_.trace;
    const auto involve = [&](trace::ThreadId thread) {
      if (thread < trace.threads.size()) add_with_ancestors(involved_, trace.threads[thread].path);
    };
    involve(trace.outcome.thread);
    for (const trace::Wait& wait : trace.outcome.waits) {
      involve(wait.thread);
      involve(wait.holder);
    }
  }

  static void add_with_ancestors(Threads& threads, std::string path) {
    for (;;) {
      threads.insert(path);
      const std::size_t dot = path.rfind('.');
      if (dot == std::string::npos) return;
      path.resize(dot);
    }
  }

  void add_with(const std::vector<std::string>& others) {
    Threads kept = involved_;
    for (const std::string& other : others) add_with_ancestors(kept, other);
    LeftOut left_out = already_;
    for (const std::string& thread : present_) {
      if (!kept.contains(thread)) left_out.threads.push_back(thread);
    }
    add(without_iterations(std::move(left_out)));
  }

  /// All that threads did not come to, and of what they did all but the last time.
  LeftOut without_iterations(LeftOut left_out) const {
    std::map<std::pair<std::string, std::string>, std::uint32_t> last;
    for (const Iteration& iteration : iterations_of(run_.trace)) {
      std::uint32_t& number = last[{iteration.thread, iteration.site}];
      number = std::max(number, iteration.number);
    }
    for (Iteration& iteration : removable_iterations(run_.trace)) {
      if (iteration.number == last[{iteration.thread, iteration.site}]) continue;
      left_out.iterations.push_back(std::move(iteration));
    }
    std::sort(left_out.iterations.begin(), left_out.iterations.end());
    for (Iteration& tail : unreached_tails(run_)) left_out.tails.push_back(std::move(tail));
    return left_out;
  }

  void add(LeftOut left_out) {
    const bool same = left_out.threads.size() == already_.threads.size() &&
                      left_out.iterations.size() == already_.iterations.size();
    if (!same) result_.push_back(std::move(left_out));
  }

  const Attempt& run_;
  const LeftOut& already_;
  std::vector<std::string> present_;  // without t0, those that matter most first
  Threads involved_;                  // with their ancestors
  std::vector<LeftOut> result_;
};

}  // namespace

std::vector<LeftOut> smaller_programs(const Attempt& run, const LeftOut& already) {
  return SmallerPrograms(run, already).all();
}

}  // namespace heddle::analysis
