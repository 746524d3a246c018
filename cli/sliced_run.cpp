// SPDX-License-Identifier: Apache-2.0
#include "cli/sliced_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "analysis/slice/instruction_slice.h"
#include "base/error.h"
#include "cli/run_code.h"
#include "cli/run_options.h"
#include "driver/program.h"

namespace heddle::cli {
namespace {

/// A path that is too long is recorded again, of the last half of the events, and so on. Nothing:
/// the run does not come back, and `difference` says how.
struct RecordedPath {
  std::string bytes;
  std::uint64_t from = 0;
};
std::optional<RecordedPath> record_path(const driver::Program& program,
                                        const driver::Inputs& inputs,
                                        const driver::Expectation& run, const SliceWish& wish,
                                        std::string& difference) {
  const std::uint64_t events = run.trace.events.size();
  driver::Replayer replayer(program, inputs, run);
  for (std::uint64_t window = std::min(events, wish.window.value_or(events)); window > 0;
       window /= 2) {
    const std::uint64_t from = events - window;
    replayer.record_path_from(from);
    const driver::ReplayResult replayed = replayer.replay();
    if (!replayed.course_difference.empty()) {
      difference = "it took another course when it was replayed: " + replayed.course_difference;
      return std::nullopt;
    }
    if (const auto path = replayer.path()) return RecordedPath{std::string(*path), from};
  }
  difference = "too many instructions are executed between its events";
  return std::nullopt;
}

std::vector<SlicedLines> lines_of(const std::vector<std::uint32_t>& instructions,
                                  const ir::ProgramCode& code) {
  std::map<std::string_view, std::set<std::uint32_t>> found;
  for (const std::uint32_t instruction : instructions) {
    const std::uint32_t line = code.at(instruction).line;
    if (line != 0) found[code.file(instruction)].insert(line);
  }
  std::vector<SlicedLines> result;
  result.reserve(found.size());
  for (const auto& [file, lines] : found) {
    result.push_back({std::string(file), {lines.begin(), lines.end()}});
  }
  return result;
}

void add_instructions(SlicedRun& result, const driver::Program& variant, const analysis::Code& code,
                      const driver::Inputs& inputs, const driver::Expectation& run,
                      const SliceWish& wish) {
  const auto path = record_path(variant, inputs, run, wish, result.why_not_more);
  if (!path) return;
  const ir::ProgramCode program = ir::ProgramCode::of_program(variant.executable());
  const analysis::Path read =
      analysis::read_path(path->bytes, path->from, program, run.trace, code.instructions);
  analysis::InstructionSlice sliced =
      analysis::slice_instructions(run.trace, read, program, code, wish.at);
  result.within = Within::Instructions;
  result.slice = std::move(sliced.slice);
  result.instances = sliced.instances;
  result.executed = read.instructions;
  result.trace_bytes = read.bytes;
  result.window_from = read.first_event;
  for (const auto& instructions : sliced.instructions) {
    result.lines.push_back(lines_of(instructions, program));
  }
}

analysis::Slice slice_events(const trace::Trace& trace, const SliceWish& wish,
                             const analysis::Code* code) {
  return wish.at ? analysis::slice(trace, *wish.at, code) : analysis::slice_of_failure(trace, code);
}

}  // namespace

const char* name_of(Within within) {
  switch (within) {
    case Within::Instructions: return "instructions";
    case Within::Code: return "code";
    case Within::WholeThreads: return "every event";
  }
  throw defect("a kind of slice has no name");
}

SlicedRun slice_run(const driver::Inputs& inputs, const driver::Expectation& run,
                    const std::string& build_id, const SliceWish& wish, ProgressLine& progress) {
  SlicedRun result;
  // A checkpoint is memory of the program as it was recorded, and fits no other.
  const bool can_replay = inputs.checkpoint.empty();
  std::unique_ptr<RunCode> run_code;
  std::optional<analysis::Code> code;
  if (wish.most != Within::WholeThreads) {
    const bool replays = can_replay && wish.most == Within::Instructions;
    abi::Variant variant = driver::variant_for(run.schedule).with(abi::Variant::Depends);
    if (replays) variant = variant.with(abi::Variant::Instructions);
    run_code = RunCode::open(program_of(inputs), build_id, variant,
                             [&](std::string_view text) { progress.say(text); });
    if (run_code != nullptr) code.emplace(run_code->of(run.trace));
    if (!code) {
      result.why_not_more = "its program is not the one that was run";
    } else if (replays) {
      add_instructions(result, run_code->program(), *code, inputs, run, wish);
    } else if (!can_replay) {
      result.why_not_more = "it begins at a checkpoint";
    }
  }
  if (code) result.code_instructions = code->graph.instruction_count();
  if (result.within == Within::Instructions) return result;
  result.within = code ? Within::Code : Within::WholeThreads;
  result.slice = slice_events(run.trace, wish, code ? &*code : nullptr);
  return result;
}

std::vector<bool> worth_showing(const trace::Trace& trace, const analysis::Slice& slice) {
  std::vector<bool> shown = analysis::at_same_memory(trace, slice);
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = shown[i] || slice.contains[i];
  return shown;
}

void keep_slice(store::Store& store, const store::RunId& run, const std::vector<bool>& shown) {
  try {
    store.keep_slice(run, shown);
  } catch (const Error& error) {
    if (error.code() != ExitCode::Environment) throw;
  }
}

}  // namespace heddle::cli
