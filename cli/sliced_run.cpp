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
#include "cli/run_options.h"
#include "driver/program.h"

namespace heddle::cli {
namespace {

/// A program whose variant tells of its code, and of which instruction each site of a trace is.
class CodeOfRun {
 public:
  CodeOfRun(driver::Program program, const trace::Trace& trace)
      : program_(std::move(program)),
        graph_(ir::DependenceGraph::of_program(program_.executable())),
        code_{graph_, {}} {
    for (const trace::Site& site : trace.sites) {
      const std::optional<abi::SiteId> id = program_.sites()->by_key(site.key);
      const auto info = id ? program_.sites()->find(*id) : std::nullopt;
      const bool is_known = info && info->instruction <= graph_.instruction_count();
      code_.instructions.push_back(is_known ? info->instruction : 0);
    }
  }
  CodeOfRun(const CodeOfRun&) = delete;
  CodeOfRun& operator=(const CodeOfRun&) = delete;

  const driver::Program& program() const { return program_; }
  const analysis::Code& code() const { return code_; }

 private:
  driver::Program program_;
  ir::DependenceGraph graph_;
  analysis::Code code_;
};

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
  for (const auto& [file, lines] : found) {
    result.push_back({std::string(file), {lines.begin(), lines.end()}});
  }
  return result;
}

void add_instructions(SlicedRun& result, const CodeOfRun& code, const driver::Inputs& inputs,
                      const driver::Expectation& run, const SliceWish& wish) {
  const auto path = record_path(code.program(), inputs, run, wish, result.why_not_more);
  if (!path) return;
  const ir::ProgramCode program = ir::ProgramCode::of_program(code.program().executable());
  const analysis::Path read =
      analysis::read_path(path->bytes, path->from, program, run.trace, code.code().instructions);
  analysis::InstructionSlice sliced =
      analysis::slice_instructions(run.trace, read, program, code.code(), wish.at);
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

/// Null: the program that was run is not there any more.
std::unique_ptr<CodeOfRun> code_of(const driver::Inputs& inputs, const driver::Expectation& run,
                                   const std::string& build_id, abi::Variant variant,
                                   ProgressLine& progress) {
  try {
    driver::Program program = driver::Program::open(
        program_of(inputs), [&](std::string_view text) { progress.say(text); }, variant);
    if (program.sites() == nullptr || program.build_id() != build_id) return nullptr;
    return std::make_unique<CodeOfRun>(std::move(program), run.trace);
  } catch (const Error& error) {
    if (error.code() == ExitCode::Defect) throw;
    return nullptr;
  }
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
  std::unique_ptr<CodeOfRun> code;
  if (wish.most != Within::WholeThreads) {
    const bool replays = can_replay && wish.most == Within::Instructions;
    abi::Variant variant = driver::variant_for(run.schedule).with(abi::Variant::Depends);
    if (replays) variant = variant.with(abi::Variant::Instructions);
    code = code_of(inputs, run, build_id, variant, progress);
    if (code == nullptr) {
      result.why_not_more = "its program is not the one that was run";
    } else if (replays) {
      add_instructions(result, *code, inputs, run, wish);
    } else if (!can_replay) {
      result.why_not_more = "it begins at a checkpoint";
    }
  }
  if (code != nullptr) result.code_instructions = code->code().graph.instruction_count();
  if (result.within == Within::Instructions) return result;
  result.within = code == nullptr ? Within::WholeThreads : Within::Code;
  result.slice = slice_events(run.trace, wish, code == nullptr ? nullptr : &code->code());
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
