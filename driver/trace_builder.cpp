// SPDX-License-Identifier: Apache-2.0
#include "driver/trace_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "driver/step_order.h"
#include "driver/thread_path.h"
#include "trace/words.h"

namespace heddle::driver {
namespace {

class TraceBuilder {
 public:
  TraceBuilder(const Program& program, const Target& target)
      : program_(program), channel_(target.channel()), paths_(thread_paths(channel_)) {}

  trace::Trace build(const Ending& ending) {
    add_header();
    add_threads();
    trace_.events.reserve(channel_.events().size());
    for (const abi::EventRecord& record : channel_.events()) {
      const Location location = locate(record.object, record.offset);
      trace_.events.push_back({record.kind, record.thread, site(record.site), location.object,
                               record.size, location.offset, record.value, record.aux});
    }
    StepOrder steps(program_.variant());
    for (const abi::StepRecord& record : channel_.steps()) {
      steps.add({record.kind, record.thread, site(record.site), record.event, record.value},
                trace_.steps);
    }
    trace_.steps_lost = channel_.header().steps_lost;
    add_outcome(ending);
    return std::move(trace_);
  }

 private:
  struct Location {
    trace::ObjectIndex object = trace::kNone;
    std::uint64_t offset = 0;
  };

  void add_header() {
    trace_.header.program = program_.name();
    trace_.header.build_id = program_.build_id();
    const abi::Options& options = channel_.header().options;
#define HEDDLE_OPTION(Type, name, default_value, help) \
  trace_.header.options[#name] = fmt::format("{}", options.name);
#include "abi/options.def"
  }

  void add_threads() {
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const abi::ThreadIndex parent = channel_.threads()[i].parent;
      trace_.threads.push_back({paths_[i], parent == abi::kNoThread ? trace::kNone : parent});
    }
  }

  trace::SiteIndex site(abi::SiteId id) {
    const auto [entry, is_new] =
        sites_.emplace(id, static_cast<trace::SiteIndex>(trace_.sites.size()));
    if (is_new) trace_.sites.push_back(program_.site(id));
    return entry->second;
  }

  trace::ObjectIndex object(abi::ObjectKind kind, const std::string& name, std::uint64_t size) {
    const auto [entry, is_new] =
        objects_.emplace(name, static_cast<trace::ObjectIndex>(trace_.objects.size()));
    if (is_new) trace_.objects.push_back({kind, name, size});
    return entry->second;
  }

  std::string path(abi::ThreadIndex thread) const {
    return thread < paths_.size() ? paths_[thread] : "t?";
  }

  Location locate(std::uint32_t number, std::uint64_t offset) {
    if (number == 0 || number > channel_.objects().size()) return {};
    const abi::ObjectRecord& record = channel_.objects()[number - 1];
    switch (record.kind) {
      case abi::ObjectKind::Static: return locate_static(record, offset);
      case abi::ObjectKind::Heap:
        return {object(record.kind,
                       fmt::format("heap {} #{} ({})", path(record.thread), record.count,
                                   program_.site(record.site).key),
                       record.size),
                offset};
      case abi::ObjectKind::Stack:
        return {object(record.kind, "stack " + path(record.thread), record.size), offset};
      case abi::ObjectKind::Unknown: break;
    }
    return {object(abi::ObjectKind::Unknown, "memory", 0), offset};
  }

  /// The runtime knows the module only; which variable it is, its symbol table tells.
  Location locate_static(const abi::ObjectRecord& record, std::uint64_t offset) {
    const std::string module(channel_.text_at(record.name));
    if (const auto place = program_.variable(module, offset)) {
      return {object(record.kind, place->symbol, place->size), place->offset};
    }
    const std::string file = module.empty() ? program_.name() : module;
    return {object(record.kind, std::filesystem::path(file).filename().string() + " data", 0),
            offset};
  }

  void add_outcome(const Ending& ending) {
    const abi::FailureRecord& record = channel_.header().failure;
    trace::Outcome& outcome = trace_.outcome;
    outcome.kind = ending.kind;
    outcome.exit_code = ending.exit_code;
    outcome.signal = ending.signal;
    outcome.message = ending.message;
    if (!ending.failed() || ending.kind == abi::FailureKind::Exit ||
        ending.kind == abi::FailureKind::Predicate) {
      return;
    }
    outcome.thread = record.thread < paths_.size() ? record.thread : trace::kNone;
    outcome.site = site(record.site);
    if (ending.kind == abi::FailureKind::UseAfterFree ||
        ending.kind == abi::FailureKind::DoubleFree) {
      outcome.related_site = site(record.related_site);
    }
    for (std::uint32_t i = 0; i < record.wait_count; ++i) add_wait(record.waits[i]);
    if (const trace::Frame* const frame = trace::source_frame(trace_, outcome.site)) {
      outcome.file = frame->file;
      outcome.function = frame->function;
      outcome.line = frame->line;
    }
    if (ending.kind == abi::FailureKind::Assert && record.line != outcome.line) {
      // A failed assertion says itself where it is, also in code that is not instrumented.
      outcome.file = record.file;
      outcome.function = record.function;
      outcome.line = record.line;
    }
  }

  void add_wait(const abi::WaitRecord& record) {
    const Location location = locate(record.object, record.offset);
    trace_.outcome.waits.push_back(
        {record.kind, record.thread, record.holder == abi::kNoThread ? trace::kNone : record.holder,
         site(record.site), site(record.holder_site), location.object, location.offset});
  }

  const Program& program_;
  const Channel& channel_;
  std::vector<std::string> paths_;
  trace::Trace trace_;
  std::unordered_map<abi::SiteId, trace::SiteIndex> sites_;
  std::map<std::string, trace::ObjectIndex> objects_;
};

std::string where(const trace::Site& site) {
  const trace::Frame* const frame = trace::source_frame(site);
  if (frame == nullptr) return {};
  return fmt::format("{}:{}:{}", trace::base_name(frame->file), frame->line, frame->column);
}

/// One of the records before advice and decisions.
bool is_left_out(const abi::PlanRecord& record) {
  return record.kind == abi::DecisionKind::Absent || record.kind == abi::DecisionKind::Skip ||
         record.kind == abi::DecisionKind::Overlook || record.kind == abi::DecisionKind::Ends;
}

/// Those of the plan's absent threads that the program came to create.
std::vector<std::string> absent_threads(const Channel& channel,
                                        const std::vector<std::string>& paths) {
  std::vector<std::string> absent;
  for (const abi::PlanRecord& record : channel.plan()) {
    if (!is_left_out(record)) break;
    if (record.kind != abi::DecisionKind::Absent) continue;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (channel.threads()[i].hash == record.target) absent.push_back(paths[i]);
    }
  }
  return absent;
}

/// The plan's skipped iterations of threads that the program came to create.
std::vector<trace::SkippedIterations> skipped_iterations(const Program& program,
                                                         const Channel& channel,
                                                         const std::vector<std::string>& paths) {
  std::vector<trace::SkippedIterations> skipped;
  for (const abi::PlanRecord& record : channel.plan()) {
    if (!is_left_out(record)) break;
    if (record.kind != abi::DecisionKind::Skip) continue;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (channel.threads()[i].hash != record.thread) continue;
      skipped.push_back({paths[i], program.site(record.site).key, record.occurrence,
                         static_cast<std::uint32_t>(record.target), record.creates,
                         record.at_once != 0});
    }
  }
  return skipped;
}

std::vector<std::string> overlooked_sites(const Program& program, const Channel& channel) {
  std::vector<std::string> sites;
  for (const abi::PlanRecord& record : channel.plan()) {
    if (!is_left_out(record)) break;
    if (record.kind != abi::DecisionKind::Overlook) continue;
    sites.push_back(program.site(record.site).key);
  }
  return sites;
}

/// The thread that the plan has end the run, where that made a difference.
std::string ending_thread(const Channel& channel, const std::vector<std::string>& paths) {
  if (channel.header().failure.waiting_failures == 0) return {};
  for (const abi::PlanRecord& record : channel.plan()) {
    if (!is_left_out(record)) break;
    if (record.kind != abi::DecisionKind::Ends) continue;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (channel.threads()[i].hash == record.thread) return paths[i];
    }
  }
  return {};
}

abi::SiteId site_of(const Program& program, const std::string& key, const char* does,
                    const std::string& where) {
  if (const std::optional<abi::SiteId> site = program.site_by_key(key)) return *site;
  throw user_error(fmt::format(
      "the schedule {} at {}{}, which this build of {} does not have; explore it again with: "
      "heddle explore -- {}",
      does, key, where.empty() ? "" : fmt::format(" ({})", where), program.name(), program.name()));
}

std::string path_of_child(const std::string& parent, std::uint32_t ordinal) {
  return ordinal == abi::kFlusherOrdinal ? parent + "~" : fmt::format("{}.{}", parent, ordinal);
}

}  // namespace

std::vector<std::string> thread_paths(const Channel& channel) {
  std::vector<std::string> paths;
  for (const abi::ThreadRecord& thread : channel.threads()) {
    paths.push_back(thread.parent == abi::kNoThread || thread.parent >= paths.size()
                        ? "t0"
                        : path_of_child(paths[thread.parent], thread.ordinal));
  }
  return paths;
}

trace::Trace build_trace(const Program& program, const Target& target, const Ending& ending) {
  return TraceBuilder(program, target).build(ending);
}

trace::Schedule build_schedule(const Program& program, const Target& target, const Inputs& inputs) {
  const Channel& channel = target.channel();
  const std::vector<std::string> paths = thread_paths(channel);
  trace::Schedule schedule;
  schedule.program = program.name();
  schedule.build_id = program.build_id();
  schedule.memory_model = channel.header().options.memory_model;
  schedule.arguments.assign(inputs.arguments.begin() + 1, inputs.arguments.end());
  schedule.absent_threads = absent_threads(channel, paths);
  schedule.skipped = skipped_iterations(program, channel, paths);
  schedule.overlooked = overlooked_sites(program, channel);
  schedule.ends_with = ending_thread(channel, paths);

  // How often each thread has been where, and how many events it has had.
  std::map<std::pair<abi::ThreadIndex, abi::SiteId>, std::uint32_t> visits;
  std::map<abi::ThreadIndex, std::uint64_t> ordinals;
  std::uint64_t event = 0;
  for (const abi::DecisionRecord& record : channel.decisions()) {
    for (; event < record.event && event < channel.events().size(); ++event) {
      const abi::EventRecord& done = channel.events()[event];
      const bool is_flush = done.kind == abi::EventKind::Flush;
      // Nobody was asked about a flush that the thread itself had to do.
      if (is_flush && !is_flusher(paths.at(done.thread))) continue;
      // Its event is at the store's site, the decisions are not.
      ++visits[{done.thread, is_flush ? abi::kFlushSite : done.site}];
      ++ordinals[done.thread];
    }
    const bool is_value = record.kind == abi::DecisionKind::Value;
    if (!is_value && record.chosen == record.thread) continue;  // going on needs no saying
    const trace::Site site = program.site(record.site);
    trace::Decision decision;
    decision.kind = record.kind;
    decision.thread = paths.at(record.thread);
    decision.site = site.key;
    decision.occurrence = visits[{record.thread, record.site}] + 1;
    decision.ordinal = ordinals[record.thread] + 1;
    decision.pending = record.pending;
    decision.where = where(site);
    if (is_value) {
      decision.value = record.chosen;
      decision.bound = record.bound;
    } else {
      decision.preemption = record.could_continue != 0;
      decision.target = paths.at(record.chosen);
    }
    schedule.decisions.push_back(std::move(decision));
  }
  return schedule;
}

std::vector<abi::PlanRecord> absent_records(const std::vector<std::string>& threads) {
  std::vector<abi::PlanRecord> records;
  for (const std::string& path : threads) {
    records.push_back({0, hash_of_path(path), 0, 0, abi::DecisionKind::Absent});
  }
  return records;
}

void set_memory_model(abi::Options& options, const trace::Schedule& schedule) {
  for (const char* const model : abi::kMemoryModels) {
    if (schedule.memory_model == model) {
      std::strcpy(options.memory_model, model);
      return;
    }
  }
  throw user_error(fmt::format("the schedule asks for memory model '{}'; there are: {}",
                               schedule.memory_model, fmt::join(abi::kMemoryModels, ", ")));
}

std::vector<abi::PlanRecord> left_out_records(const Program& program,
                                              const trace::Schedule& schedule) {
  std::vector<abi::PlanRecord> records = absent_records(schedule.absent_threads);
  for (const trace::SkippedIterations& skip : schedule.skipped) {
    records.push_back({hash_of_path(skip.thread), skip.last,
                       site_of(program, skip.site, "skips iterations", ""), skip.first,
                       abi::DecisionKind::Skip, skip.creates,
                       static_cast<std::uint16_t>(skip.at_once)});
  }
  for (const std::string& site : schedule.overlooked) {
    records.push_back({0,
                       0,
                       site_of(program, site, "overlooks accesses", ""),
                       0,
                       abi::DecisionKind::Overlook,
                       {}});
  }
  if (!schedule.ends_with.empty()) {
    records.push_back({hash_of_path(schedule.ends_with), 0, 0, 0, abi::DecisionKind::Ends, {}});
  }
  return records;
}

std::vector<abi::PlanRecord> make_plan(const Program& program, const trace::Schedule& schedule) {
  std::vector<abi::PlanRecord> plan = left_out_records(program, schedule);
  plan.reserve(plan.size() + schedule.decisions.size());
  for (const trace::Decision& decision : schedule.decisions) {
    const abi::SiteId site = site_of(program, decision.site, "switches", decision.where);
    const bool is_value = decision.kind == abi::DecisionKind::Value;
    // The runtime asks a flusher after each flush and never before the first.
    const std::uint32_t not_asked = is_flusher(decision.thread) ? 1 : 0;
    plan.push_back({hash_of_path(decision.thread),
                    is_value ? decision.value : hash_of_path(decision.target), site,
                    decision.occurrence - not_asked, decision.kind});
  }
  return plan;
}

abi::PlanRecord point_record(const Program& program, abi::DecisionKind kind,
                             const analysis::Point& point) {
  const std::optional<abi::SiteId> site = program.site_by_key(point.site);
  if (!site) {
    throw user_error(
        fmt::format("this build of {} has no place {}; explore it again with: heddle "
                    "explore -- {}",
                    program.name(), point.site, program.name()));
  }
  return {hash_of_path(point.thread), 0, *site, point.occurrence, kind, {}};
}

}  // namespace heddle::driver
