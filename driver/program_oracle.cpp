// SPDX-License-Identifier: Apache-2.0
#include "driver/program_oracle.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "driver/failure_stacks.h"
#include "driver/search/search.h"
#include "driver/trace_builder.h"

namespace heddle::driver {
namespace {

using analysis::Attempt;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kExecutionLimit{10'000};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Where the iterations of loops begin and end is written down, but nothing that the program did.
std::uint64_t events_done(const Channel& channel) {
  const auto all = channel.events();
  const auto events = all.subspan(std::min<std::size_t>(channel.header().stem.had, all.size()));
  return static_cast<std::uint64_t>(
      std::count_if(events.begin(), events.end(), [](const abi::EventRecord& event) {
        return event.kind != abi::EventKind::IterationBegin &&
               event.kind != abi::EventKind::IterationEnd;
      }));
}

}  // namespace

ProgramOracle::ProgramOracle(const Program& program, const Inputs& inputs, std::uint64_t max_events,
                             std::uint64_t max_followed, std::string fails_if, unsigned workers)
    : program_(program),
      inputs_(inputs),
      max_followed_(std::min(max_events, max_followed)),
      fails_if_(std::move(fails_if)),
      start_([this] {
        return std::make_unique<Target>(program_.image(), inputs_, options_.max_events,
                                        kExecutionLimit);
      }),
      stems_(start_),
      pool_(workers, start_) {
  std::strcpy(options_.strategy, "follow");
  options_.max_events = max_events;
}

abi::Options ProgramOracle::options_for(const trace::Schedule& schedule,
                                        std::uint64_t order) const {
  abi::Options options = options_;
  options.seed = order;
  set_memory_model(options, schedule);
  return options;
}

Ending ProgramOracle::judge(const Target& target, const Execution& execution) const {
  Ending ending = classify(target, execution);
  if (!ending.failed() && !fails_if_.empty() && predicate_holds(fails_if_, target, ending)) {
    ending.kind = abi::FailureKind::Predicate;
  }
  return ending;
}

Attempt ProgramOracle::attempt_of(const Target& target, const Ending& ending, double seconds) {
  const std::scoped_lock lock(mutex_);
  return {build_trace(program_, target, ending), build_schedule(program_, target, inputs_),
          target.standard_output(), target.standard_error(), seconds};
}

Attempt ProgramOracle::execute(Target& target, const abi::Options& options,
                               std::span<const abi::PlanRecord> plan, std::uint64_t most_events) {
  const Clock::time_point begin = Clock::now();
  const Execution execution = target.run(options, plan, most_events);
  const double seconds = seconds_since(begin);
  return attempt_of(target, judge(target, execution), seconds);
}

Attempt ProgramOracle::execute_rest(Target& target, const abi::Options& options,
                                    std::span<const abi::PlanRecord> plan,
                                    const analysis::Common& common, std::uint64_t most_events) {
  const auto [number, where] =
      stems_.before(target, is_plain(options) ? common : analysis::Common{});
  Attempt attempt = execute(where, options, plan, most_events);
  attempt.number = number;
  attempt.had = stems_.after(where);
  return attempt;
}

bool ProgramOracle::is_plain(const abi::Options& options) const {
  return !inputs_.outside && std::strcmp(options.memory_model, "sc") == 0;
}

Attempt ProgramOracle::execute_alone(const abi::Options& options,
                                     std::span<const abi::PlanRecord> plan) {
  Attempt attempt;
  pool_.run(1, [&](Target& target) {
    stems_.begin_at_beginning(target);
    attempt = execute(target, options, plan);
  });
  typical_length_ = attempt.trace.events.size();
  return attempt;
}

Attempt ProgramOracle::follow_with_stacks(const trace::Schedule& schedule) {
  Attempt attempt;
  pool_.run(1, [&](Target& target) {
    stems_.begin_at_beginning(target);
    attempt = execute(target, options_for(schedule, 0), make_plan(program_, schedule));
    attempt.trace.stacks = failure_stacks(program_, target.channel());
  });
  return attempt;
}

Attempt ProgramOracle::follow(const trace::Schedule& schedule) {
  return execute_alone(options_for(schedule, 0), make_plan(program_, schedule));
}

Attempt ProgramOracle::steer(const trace::Schedule& schedule,
                             const std::vector<analysis::Order>& orders) {
  std::vector<abi::PlanRecord> plan = make_plan(program_, schedule);
  for (const analysis::Order& order : orders) {
    plan.push_back(point_record(program_, abi::DecisionKind::Hold, order.second));
    plan.push_back(point_record(program_, abi::DecisionKind::Until, order.first));
  }
  return execute_alone(options_for(schedule, 0), plan);
}

Attempt ProgramOracle::wander(const trace::Schedule& schedule, std::uint64_t seed) {
  abi::Options options = options_for(schedule, seed);
  std::strcpy(options.strategy, seed % 2 == 0 ? "random" : "pct");
  options.length = typical_length_;
  return execute_alone(options, left_out_records(program_, schedule));
}

Attempt ProgramOracle::delay(const trace::Schedule& schedule, std::uint64_t seed) {
  abi::Options options = options_for(schedule, seed);
  std::strcpy(options.strategy, "delays");
  return execute_alone(options, left_out_records(program_, schedule));
}

bool ProgramOracle::tells_loops() const {
  return program_.sites() != nullptr && program_.variant().has(abi::Variant::Loops);
}

std::vector<Attempt> ProgramOracle::follow_all(
    std::span<const analysis::BoundedSchedule> schedules) {
  std::vector<Attempt> attempts(schedules.size());
  std::atomic<std::size_t> next = 0;
  pool_.run(static_cast<unsigned>(schedules.size()), [&](Target& target) {
    for (std::size_t i = next++; i < schedules.size(); i = next++) {
      const auto& [schedule, most_events, common] = schedules[i];
      abi::Options options = options_for(schedule, 0);
      const bool is_bounded = most_events <= options.max_events / 2;
      // Threads take turns in the second half of max_events: what is stopped before that is not to
      // be judged by anything but its schedule.
      options.max_events = is_bounded ? std::max(max_followed_, 2 * most_events)
                                      : std::min(max_followed_, most_events);
      attempts[i] =
          execute_rest(target, options, make_plan(program_, schedule), common, most_events);
    }
  });
  return attempts;
}

Attempt ProgramOracle::run_sequentially(const trace::Schedule& schedule, std::uint64_t order,
                                        const analysis::Common& common) {
  Attempt attempt;
  pool_.run(1, [&](Target& target) {
    attempt = execute_rest(target, options_for(schedule, order),
                           left_out_records(program_, schedule), common);
  });
  typical_length_ = attempt.trace.events.size();
  return attempt;
}

analysis::SearchResult ProgramOracle::search(const trace::Schedule& schedule,
                                             const analysis::SearchRequest& request) {
  SearchSettings settings;
  const bool is_systematic = request.among == analysis::SearchRequest::Among::FewPreemptions;
  settings.strategies = {is_systematic ? "chess" : "portfolio"};
  settings.options = options_for(schedule, 0);
  settings.absent = left_out_records(program_, schedule);
  settings.max_preemptions = request.most_preemptions;
  settings.prune = fails_if_.empty();
  const std::unique_ptr<Search> search = make_search(settings);

  std::mutex mutex;  // guards the result
  analysis::SearchResult result;
  const auto over = [&] {
    const std::scoped_lock lock(mutex);
    return result.found || result.executions >= request.most_executions ||
           result.events >= request.most_events || (request.stop && request.stop());
  };
  const analysis::Common alone = is_plain(settings.options) ? request.alone : analysis::Common{};
  pool_.run(pool_.size(), [&](Target& target) {
    stems_.begin_search(target, alone);
    while (!over()) {
      const std::optional<Trial> trial = search->next();
      if (!trial) return;
      const Clock::time_point begin = Clock::now();
      const Execution execution = target.run(trial->options, trial->plan);
      const double seconds = seconds_since(begin);
      const Ending ending = judge(target, execution);
      const std::uint64_t events = events_done(target.channel());
      stems_.after_searched(target);
      std::optional<Attempt> failing;
      if (ending.failed()) failing = attempt_of(target, ending, seconds);
      search->observe(*trial, target.channel(), ending.failed());
      const std::scoped_lock lock(mutex);
      ++result.executions;
      result.events += events;
      if (failing && !result.found && trace::signature(failing->trace) == request.signature) {
        result.found = std::move(failing);
        result.found->number = stems_.add(alone);
      }
    }
  });
  result.complete = search->exhausted_bound().value_or(0) >= request.most_preemptions &&
                    search->exhausted_bound().has_value();
  return result;
}

}  // namespace heddle::driver
