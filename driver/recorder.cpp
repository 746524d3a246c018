// SPDX-License-Identifier: Apache-2.0
#include "driver/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>

#include "abi/names.h"
#include "base/error.h"
#include "driver/trace_builder.h"
#include "trace/file.h"
#include "trace/sha256.h"
#include "trace/words.h"

namespace heddle::driver {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<abi::PlanRecord> plan_of(const RecordedRun& recorded,
                                     const analysis::TotalOrder& order) {
  const analysis::Recording& recording = recorded.recording;
  std::vector<abi::PlanRecord> plan;
  plan.reserve(order.turns.size() + 1);
  if (recorded.ending && recording.last < recording.threads.size()) {
    plan.push_back({recording.threads[recording.last].hash, 0, 0, 0, abi::DecisionKind::Ends, {}});
  }
  for (const analysis::Turn& turn : order.turns) {
    plan.push_back({recording.threads[turn.thread].hash, 0, turn.site, turn.operations,
                    abi::DecisionKind::Turn});
  }
  return plan;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

/// Who prints when is not recorded: the same lines, in whatever order. A thread that was on its way
/// to its next operation when the run ended gets there under control, and prints what it would
/// have.
bool same_lines(const analysis::Recording& recording, const std::string& recorded,
                const std::string& enforced) {
  if (recorded == enforced) return true;
  const std::vector<std::string> before = sorted_lines(recorded), now = sorted_lines(enforced);
  return before == now ||
         (analysis::any_under_way(recording) && std::ranges::includes(now, before));
}

std::string ending_text(abi::FailureKind kind, const std::string& message) {
  return fmt::format("{} ({}{}{})", abi::name_of(kind), abi::sentence_of(kind),
                     message.empty() ? "" : ": ", message);
}

/// Where the program was when it could not follow any further, on its source lines.
std::string where_it_left(const KeptRun& enforced) {
  const trace::Trace& trace = enforced.trace;
  std::string text = fmt::format("after {} events", trace.events.size());
  if (trace.outcome.thread != trace::kNone) {
    text += fmt::format(" {}", trace.threads[trace.outcome.thread].path);
    if (trace.outcome.site != trace::kNone) {
      text += " was about to go on at " + trace::place_and_function(trace, trace.outcome.site);
    }
  }
  return text;
}

struct RecordedOperation {
  const analysis::RecordedThread* thread;
  const abi::RecordedStep* step;
};

/// The operation that the recorded run did after so many.
std::optional<RecordedOperation> recorded_after(const analysis::Recording& recording,
                                                const analysis::TotalOrder& order,
                                                std::uint64_t operations) {
  std::vector<std::uint64_t> done(recording.threads.size(), 0);
  for (const analysis::Turn& turn : order.turns) {
    if (operations >= turn.operations) {
      operations -= turn.operations;
      done[turn.thread] += turn.operations;
      continue;
    }
    const analysis::RecordedThread& thread = recording.threads[turn.thread];
    std::uint64_t before = done[turn.thread] + operations;
    for (const abi::RecordedStep& step : thread.steps) {
      if (step.kind == abi::EventKind::None) continue;
      if (before-- > 0) continue;
      return RecordedOperation{&thread, &step};
    }
  }
  return {};
}

/// On its source lines.
std::string text_of(const Program& program, const std::optional<RecordedOperation>& operation) {
  if (!operation) return "nothing";
  const trace::Site site = program.site(operation->step->site);
  const trace::Frame* const frame = trace::source_frame(site);
  return fmt::format("{} {}{}", operation->thread->path, abi::name_of(operation->step->kind),
                     frame == nullptr ? ""
                                      : fmt::format(" at {}:{} ({})", trace::base_name(frame->file),
                                                    frame->line, frame->function));
}

/// What it begins with.
analysis::TotalOrder beginning_of(const analysis::TotalOrder& order, std::uint64_t operations) {
  analysis::TotalOrder begun;
  begun.left_out = order.left_out + order.operations - operations;
  begun.operations = operations;
  for (analysis::Turn turn : order.turns) {
    if (operations == 0) break;
    turn.operations =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(turn.operations, operations));
    operations -= turn.operations;
    begun.turns.push_back(turn);
  }
  return begun;
}

/// What a recorded and an enforced run have to have in common. Where each was ended they cannot
/// differ unless it was in another way.
std::string difference_of(const RecordedRun& recorded, const KeptRun& enforced) {
  const trace::Outcome& outcome = enforced.trace.outcome;
  if (outcome.kind == abi::FailureKind::Divergence) {
    return fmt::format("the recorded order could not be followed: {}{}{}", where_it_left(enforced),
                       outcome.message.empty() ? "" : ", and ", outcome.message);
  }
  if (!recorded.ending) return {};
  const Ending& ending = *recorded.ending;
  const bool is_hang = ending.kind == abi::FailureKind::Hang;
  if (outcome.kind != ending.kind || outcome.exit_code != ending.exit_code ||
      (outcome.signal != ending.signal && !is_hang) ||
      (outcome.message != ending.message && !is_hang)) {
    return fmt::format("recorded: {}; under control: {}", ending_text(ending.kind, ending.message),
                       ending_text(outcome.kind, outcome.message));
  }
  const analysis::Recording& recording = recorded.recording;
  if (!same_lines(recording, recorded.standard_output, enforced.standard_output) ||
      !same_lines(recording, recorded.standard_error, enforced.standard_error)) {
    return "the program printed something else under control";
  }
  return {};
}

// --- input files

/// More is not copied, only named by its hash.
constexpr std::uint64_t kMostCopied = 64u << 20;

bool is_made_by_the_kernel(const std::string& path) {
  return path.starts_with("/proc/") || path.starts_with("/sys/");
}

/// Collects what a program had to do with files while it was recorded.
class FileCollector {
 public:
  FileCollector(RecordedRun& run) : run_(run) {}

  void add(const abi::Answer& answer, std::string_view bytes) {
    if (answer.call != SYS_openat || answer.result < 0) return;
    abi::OpenedFile opened{};
    if (bytes.size() <= sizeof opened) return;
    std::memcpy(&opened, bytes.data(), sizeof opened);
    const std::string_view rest = bytes.substr(sizeof opened);
    const std::string given(rest.substr(0, rest.find('\0')));
    const bool has_contents = bytes.size() > sizeof opened + given.size() + 1;
    if (has_contents) return;  // of a file of the kernel's
    if (!S_ISREG(opened.mode) || !seen_.insert(given).second) return;
    const std::string path = (run_.inputs.directory / given).lexically_normal().string();
    if ((opened.flags & O_ACCMODE) != O_RDONLY) {
      // Its contents are the program's own work, unless there were some before.
      if (opened.size > 0) run_.unknown.push_back("files that it changes itself (" + path + ")");
      return;
    }
    if (is_made_by_the_kernel(path)) {
      run_.unknown.push_back("files of the kernel's (" + path + ")");
      return;
    }
    struct stat now{};
    if (stat(path.c_str(), &now) != 0 || now.st_size != opened.size ||
        now.st_mtim.tv_sec * 1'000'000'000 + now.st_mtim.tv_nsec != opened.changed) {
      run_.unknown.push_back("files that changed meanwhile (" + path + ")");
      return;
    }
    const auto size = static_cast<std::uint64_t>(opened.size);
    const bool is_copied = (copied_ += size) <= kMostCopied;
    run_.inputs.outside->files.push_back(
        {given, path, trace::sha256(trace::read_file(path)), size, is_copied ? path : "", {}});
  }

 private:
  RecordedRun& run_;
  std::set<std::string> seen_;
  std::uint64_t copied_ = 0;
};

void note_once(std::vector<std::string>& words, const char* word) {
  if (std::ranges::find(words, word) == words.end()) words.emplace_back(word);
}

Error disk_full(const RecordingFile& log) {
  return environment_error(
      fmt::format("no room on the disk for the log {} ({} bytes so far); free space, or set "
                  "HEDDLE_DIR to another directory",
                  log.path().string(), log.chunk_bytes()));
}

Error log_full(const analysis::Recording& recording, const RecordingFile& log) {
  return user_error(
      fmt::format("the log has reached its bound of {} MiB before the program ended, and no "
                  "checkpoint could be taken from which to go on: {}; allow more: heddle record "
                  "--max-log MIB",
                  log.chunk_bytes() >> 20, analysis::sentence_of(recording.obstacle)));
}

std::string printed_since(const std::string& text, std::uint64_t bytes) {
  return text.substr(std::min<std::uint64_t>(bytes, text.size()));
}

}  // namespace

RecordedRun run_of(std::string_view log, std::string_view name, const Inputs& inputs) {
  RecordedRun run;
  run.recording = analysis::read_recording(log, name);
  run.inputs = inputs;
  if (const auto& checkpoint = run.recording.checkpoint) {
    run.inputs.checkpoint = checkpoint_beside(name, checkpoint->file);
  }
  run.log_bytes = log.size();
  return run;
}

void complete_inputs(RecordedRun& run) {
  run.inputs.outside.emplace();
  run.inputs.outside->process = run.recording.process;
  FileCollector files(run);
  for (const analysis::RecordedThread& thread : run.recording.threads) {
    if (!thread.answers.empty()) run.inputs.outside->answers[thread.path] = thread.answers;
    analysis::each_answer(thread.answers, [&](const abi::Answer& answer, std::string_view bytes) {
      if (answer.kind == abi::AnswerKind::Call) files.add(answer, bytes);
      if (answer.kind == abi::AnswerKind::Source) {
        note_once(run.unknown, analysis::name_of(static_cast<abi::UnrecordedSource>(answer.call)));
      }
    });
  }
}

ParallelRecorder::ParallelRecorder(const Program& program, const Inputs& inputs,
                                   const ExploreLimits& limits, RecordingFile& log, bool pauses)
    : program_(program),
      inputs_(inputs),
      limits_(limits),
      log_(log),
      pauses_(pauses),
      target_(program.image(), inputs, 1, limits.execution, log.descriptors()) {}

RecordedRun ParallelRecorder::record() {
  abi::Options options;
  std::strcpy(options.carrier, "parallel");
  std::strcpy(options.strategy, pauses_ ? "pauses" : "none");
  options.seed = ++recordings_;
  log_.reset();
  const Clock::time_point begin = Clock::now();
  const Execution execution = target_.run(options, {});
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (log_.has_holes()) throw disk_full(log_);
  RecordedRun run = run_of(log_.bytes(), log_.path().string(), inputs_);
  if (run.recording.end != abi::RecordingEnd::None) throw log_full(run.recording, log_);
  run.seconds = seconds;
  run.ending = judge(program_, target_, execution, limits_.fails_if);
  analysis::settle_end(run.recording, target_.channel().header().failure.thread);
  run.standard_output = target_.standard_output();
  run.standard_error = target_.standard_error();
  if (const auto& checkpoint = run.recording.checkpoint) {
    // What was printed before is not printed again.
    run.standard_output = printed_since(run.standard_output, checkpoint->printed[0]);
    run.standard_error = printed_since(run.standard_error, checkpoint->printed[1]);
  }
  return run;
}

EnforcedRun enforce(const Program& program, const ExploreLimits& limits, std::uint64_t max_events,
                    const RecordedRun& recorded) {
  analysis::TotalOrder order = analysis::order_of(recorded.recording);
  if (order.operations > max_events) {
    throw user_error(fmt::format(
        "the recorded run has {0} operations, more than --max-events allows; record it with "
        "--max-events {0}",
        order.operations));
  }
  abi::Options options;
  std::strcpy(options.strategy, "order");
  options.max_events = 2 * max_events;  // from the half on, turns are fair rather than planned
  EnforcedRun enforced;
  std::optional<RecordedOperation> next;  // where the order could not be followed
  const auto follow = [&] {
    enforced.run = run_once(program, recorded.inputs, options, plan_of(recorded, order), limits);
    next.reset();
    if (enforced.run.trace.outcome.kind != abi::FailureKind::Divergence) return;
    next = recorded_after(recorded.recording, order, enforced.run.trace.events.size());
  };
  follow();
  // Of a log that was cut there may be what a thread did, but not what it was told before.
  if (!recorded.ending && next && next->step->kind == abi::EventKind::Descriptor) {
    order = beginning_of(order, enforced.run.trace.events.size());
    follow();
  }
  enforced.operations = order.operations;
  enforced.left_out = order.left_out;
  enforced.difference = difference_of(recorded, enforced.run);
  if (enforced.run.trace.outcome.kind == abi::FailureKind::Divergence) {
    enforced.difference += "; recorded next: " + text_of(program, next);
  }
  if (!enforced.difference.empty() && !recorded.unknown.empty()) {
    enforced.difference +=
        fmt::format("; it used what is not recorded: {}", fmt::join(recorded.unknown, ", "));
  }
  return enforced;
}

}  // namespace heddle::driver
