// SPDX-License-Identifier: Apache-2.0
#include "analysis/reduce/first_guess.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/reduce/projection.h"
#include "analysis/reduce/relevance.h"

namespace heddle::analysis {
namespace {

class FirstGuess {
 public:
  FirstGuess(const Attempt& original, Trials& trials) : original_(original), trials_(trials) {}

  std::optional<Attempt> guess() {
    if (is_settled_by(neighbourhood(original_.trace, kFewestSteps))) return std::move(accepted_);
    Neighbourhood tried;
    for (int steps = kFewestSteps; steps <= kMostSteps && !trials_.stopping(); steps *= 2) {
      Neighbourhood needed = neighbourhood(original_.trace, steps, Overwritten::ByItself);
      if (needed == tried || is_settled_by(needed)) break;
      tried = std::move(needed);
    }
    return std::move(accepted_);
  }

 private:
  // The further back, the likelier a guess is right and the less it takes off.
  static constexpr int kFewestSteps = 3;
  static constexpr int kMostSteps = 48;

  /// True also where a wider guess is not worth a trial.
  bool is_settled_by(const Neighbourhood& needed) {
    trials_.report("guess", original_);
    std::size_t iterations = 0;
    for (const Creators creators : {Creators::GoToo, Creators::Stay}) {
      const LeftOut left_out = all_but(needed, creators);
      if (left_out.iterations.size() == iterations) break;
      iterations = left_out.iterations.size();
      const Projected whole = project(original_, left_out);
      if (whole.events > original_.trace.events.size() / 2) return true;
      const Verdict verdict = without(left_out);
      if (verdict == Verdict::Accepted) return true;
      // If the program only misses the handles, it is to have them.
      if (verdict == Verdict::Passes) break;
    }
    return false;
  }

  Verdict without(const LeftOut& left_out) {
    Verdict first = Verdict::NotAsked;
    // Without what the run did not come to, the same in sequence costs less.
    for (const bool with_tails : {true, false}) {
      LeftOut also = left_out;
      if (with_tails) {
        for (Iteration& tail : unreached_tails(original_)) {
          if (!is_gone(left_out, tail.thread)) also.tails.push_back(std::move(tail));
        }
      }
      Projected projected = project(original_, also);
      std::vector<BoundedSchedule> schedules = {
          trials_.bounded(std::move(projected.schedule), projected.events)};
      // Threads that had to wait may not have to any more: then they need not give way either.
      schedules.push_back(schedules[0]);
      std::erase_if(schedules[1].schedule.decisions,
                    [](const trace::Decision& decision) { return !decision.preemption; });
      std::vector<Judged> judged = trials_.judge(schedules);
      const auto accepted = std::find_if(judged.begin(), judged.end(), [](const Judged& one) {
        return one.verdict == Verdict::Accepted;
      });
      if (accepted != judged.end()) {
        accepted_ = std::move(accepted->attempt);
        return Verdict::Accepted;
      }
      first = judged[0].verdict;
      if (first != Verdict::FailsSequentially) break;
    }
    return first;
  }

  static bool is_gone(const LeftOut& left_out, const std::string& thread) {
    return std::any_of(left_out.threads.begin(), left_out.threads.end(),
                       [&](const std::string& gone) { return is_part_of(thread, gone); });
  }

  /// Whether iterations go that create and join nobody but threads that go.
  enum class Creators { GoToo, Stay };

  /// Of the original run, as far as it may go.
  LeftOut all_but(const Neighbourhood& needed, Creators creators) const {
    const trace::Trace& trace = original_.trace;
    LeftOut left_out = left_out_of(original_.schedule);
    for (const trace::Thread& thread : trace.threads) {  // creators come before their threads
      if (thread.path.ends_with('~') || is_gone(left_out, thread.path)) continue;
      if (std::binary_search(needed.threads.begin(), needed.threads.end(), thread.path)) continue;
      left_out.threads.push_back(thread.path);
    }
    const bool go_too = creators == Creators::GoToo;
    for (Iteration& iteration :
         removable_iterations(trace, go_too ? left_out.threads : std::vector<std::string>{})) {
      if (std::binary_search(needed.iterations.begin(), needed.iterations.end(), iteration))
        continue;
      if (!is_gone(left_out, iteration.thread)) left_out.iterations.push_back(std::move(iteration));
    }
    std::sort(left_out.iterations.begin(), left_out.iterations.end());
    return left_out;
  }

  const Attempt& original_;
  Trials& trials_;
  std::optional<Attempt> accepted_;
};

}  // namespace

std::optional<Attempt> first_guess(const Attempt& original, Trials& trials) {
  return FirstGuess(original, trials).guess();
}

}  // namespace heddle::analysis
