// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/reduce.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/reduce/ddmin.h"
#include "base/error.h"
#include "trace/counts.h"

namespace heddle::analysis {
namespace {

using trace::Decision;
using trace::Schedule;

/// A thread's store buffer ("t0.1~") goes with it.
bool is_descendant_or_self(const std::string& thread, const std::string& ancestor) {
  return thread == ancestor || thread.starts_with(ancestor + ".") || thread == ancestor + "~";
}

/// The schedule without these threads: what they decided, and what was decided for them, goes.
Schedule without_threads(const Schedule& schedule, const std::vector<std::string>& absent) {
  const auto is_absent = [&absent](const std::string& thread) {
    return std::any_of(absent.begin(), absent.end(), [&](const std::string& ancestor) {
      return is_descendant_or_self(thread, ancestor);
    });
  };
  Schedule result = schedule;
  result.absent_threads = absent;
  std::erase_if(result.decisions, [&](const Decision& decision) {
    return is_absent(decision.thread) || is_absent(decision.target);
  });
  return result;
}

std::uint64_t running_threads(const Attempt& attempt) {
  return trace::program_threads(attempt.trace) - attempt.schedule.absent_threads.size();
}

auto weight(const Attempt& attempt) {
  return std::tuple{running_threads(attempt), trace::preemptions(attempt.schedule),
                    trace::context_switches(attempt.trace), attempt.trace.events.size()};
}

class Reducer {
 public:
  Reducer(Oracle& oracle, const Attempt& original, const ReduceOptions& options)
      : oracle_(oracle), options_(options), signature_(trace::signature(original.trace)) {
    result_.best = original;
    result_.before = result_.after = size_of(original);
  }

  Reduction run() {
    const Attempt again = follow(result_.best.schedule);
    if (!is_the_failure(again)) {
      throw user_error(
          "the failure does not come back, so it cannot be reduced; see what differs "
          "with: heddle replay");
    }
    result_.sequential_passes = passes_sequentially({});
    reduce_threads();
    reduce_switches();
    result_.after = size_of(result_.best);
    return std::move(result_);
  }

 private:
  Attempt follow(const Schedule& schedule) {
    ++result_.trials;
    return oracle_.follow(schedule);
  }

  bool stopping() {
    if (options_.stop && options_.stop()) result_.stopped = true;
    return result_.stopped;
  }

  void report(const char* phase) {
    if (options_.progress) options_.progress(phase, result_.trials, size_of(result_.best));
  }

  bool passes_sequentially(const std::vector<std::string>& absent) {
    Schedule schedule = result_.best.schedule;
    schedule.decisions.clear();
    schedule.absent_threads = absent;
    return !follow(schedule).trace.outcome.failed();
  }

  bool is_the_failure(const Attempt& attempt) const {
    return trace::signature(attempt.trace) == signature_;
  }

  /// Algorithm 2: level by level from the eldest, a thread together with its descendants.
  void reduce_threads() {
    const Schedule schedule = result_.best.schedule;
    std::map<std::size_t, std::vector<std::string>> levels;
    for (const trace::Thread& thread : result_.best.trace.threads) {
      const auto depth = std::count(thread.path.begin(), thread.path.end(), '.');
      const bool is_flusher = thread.path.ends_with('~');
      if (depth > 0 && !is_flusher) levels[static_cast<std::size_t>(depth)].push_back(thread.path);
    }
    std::vector<std::string> absent = schedule.absent_threads;
    for (const auto& [depth, threads] : levels) {
      std::vector<std::string> present;
      for (const std::string& thread : threads) {
        const bool gone = std::any_of(absent.begin(), absent.end(), [&](const std::string& other) {
          return is_descendant_or_self(thread, other);
        });
        if (!gone) present.push_back(thread);
      }
      const auto absent_with = [&](const std::vector<std::string>& kept) {
        std::vector<std::string> result = absent;
        for (const std::string& thread : present) {
          if (std::find(kept.begin(), kept.end(), thread) == kept.end()) result.push_back(thread);
        }
        return result;
      };
      const std::vector<std::string> kept = ddmin<std::string>(present, [&](const auto& candidate) {
        if (stopping()) return false;
        report("threads");
        const std::vector<std::string> gone = absent_with(candidate);
        return is_the_failure(follow(without_threads(schedule, gone))) &&
               (!result_.sequential_passes || passes_sequentially(gone));
      });
      absent = absent_with(kept);
    }
    if (absent.size() > schedule.absent_threads.size()) {
      result_.best = follow(without_threads(schedule, absent));
      result_.removed_threads.assign(
          absent.begin() + static_cast<std::ptrdiff_t>(schedule.absent_threads.size()),
          absent.end());
    }
  }

  /// Preemptions that are not needed go; what is then decided where nobody is preempted may differ,
  /// so it goes on until nothing gets smaller.
  void reduce_switches() {
    for (;;) {
      const auto before = weight(result_.best);
      const Schedule schedule = result_.best.schedule;
      ddmin<Decision>(schedule.decisions, [&](const std::vector<Decision>& kept) {
        if (stopping()) return false;
        report("switches");
        Schedule candidate = schedule;
        candidate.decisions = kept;
        Attempt attempt = follow(candidate);
        if (!is_the_failure(attempt)) return false;
        if (weight(attempt) < weight(result_.best)) result_.best = std::move(attempt);
        return true;
      });
      if (weight(result_.best) == before) return;
    }
  }

  Oracle& oracle_;
  const ReduceOptions& options_;
  const std::string signature_;
  Reduction result_;
};

}  // namespace

Size size_of(const Attempt& attempt) {
  return {running_threads(attempt), attempt.trace.events.size(),
          trace::context_switches(attempt.trace), trace::preemptions(attempt.schedule),
          attempt.seconds};
}

Reduction reduce(Oracle& oracle, const Attempt& original, const ReduceOptions& options) {
  if (!original.trace.outcome.failed()) {
    throw user_error("the run did not fail: there is nothing to reduce");
  }
  return Reducer(oracle, original, options).run();
}

}  // namespace heddle::analysis
