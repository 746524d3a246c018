// SPDX-License-Identifier: Apache-2.0
#include "analysis/slice/slice.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/run_options.h"
#include "cli/terminal.h"
#include "driver/program.h"
#include "store/store.h"
#include "trace/words.h"

namespace heddle::cli {
namespace {

struct SliceFlags {
  std::string run = "latest";
  std::optional<std::uint64_t> at;
  bool whole_threads = false;
};

/// The program's code, if the program is still the one that was run.
class ProgramCode {
 public:
  ProgramCode(const driver::Program& program, const trace::Trace& trace)
      : graph_(ir::DependenceGraph::of_program(program.executable())), code_{graph_, {}} {
    for (const trace::Site& site : trace.sites) {
      const std::optional<abi::SiteId> id = program.sites()->by_key(site.key);
      const auto info = id ? program.sites()->find(*id) : std::nullopt;
      const bool is_known = info && info->instruction <= graph_.instruction_count();
      code_.instructions.push_back(is_known ? info->instruction : 0);
    }
  }

  const analysis::Code& code() const { return code_; }

 private:
  ir::DependenceGraph graph_;
  analysis::Code code_;
};

std::unique_ptr<ProgramCode> code_of(const store::Store& store, const store::RunSummary& run,
                                     const trace::Trace& trace, ProgressLine& progress) {
  const driver::Inputs inputs = from_stored(store.load_inputs(run.id));
  try {
    const driver::Program program = driver::Program::open(
        inputs.arguments.at(0), [&](std::string_view text) { progress.say(text); },
        abi::Variant::Full.with(abi::Variant::Depends));
    if (program.sites() == nullptr || program.build_id() != run.build_id) return nullptr;
    return std::make_unique<ProgramCode>(program, trace);
  } catch (const Error& error) {
    if (error.code() == ExitCode::Defect) throw;
    return nullptr;  // it is not there any more: the trace alone has to do
  }
}

ExitCode slice(const SliceFlags& flags, bool json) {
  const store::Store store = store::Store::open_existing();
  const store::RunSummary run = store.find(flags.run);
  const trace::Trace trace = store.load_trace(run.id);
  ProgressLine progress(json);
  const std::unique_ptr<ProgramCode> program =
      flags.whole_threads ? nullptr : code_of(store, run, trace, progress);
  progress.clear();
  const analysis::Code* const code = program == nullptr ? nullptr : &program->code();
  const auto begin = std::chrono::steady_clock::now();
  const analysis::Slice slice =
      flags.at ? analysis::slice(trace, *flags.at, code) : analysis::slice_of_failure(trace, code);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto where = [&](std::size_t event) {
    const trace::Frame* const frame = trace::source_frame(trace, trace.events[event].site);
    return frame == nullptr ? std::string("-")
                            : fmt::format("{}:{}", trace::base_name(frame->file), frame->line);
  };
  if (json) {
    nlohmann::json object = json_result("slice", "done", run.id, seconds);
    object["at"] = slice.at;
    object["events"] = trace.events.size();
    object["events_in_slice"] = slice.size;
    object["within_threads"] = code == nullptr ? "every event" : "instructions";
    if (code != nullptr) {
      object["instructions"] = code->graph.instruction_count();
      object["instructions_in_slice"] = slice.instructions;
    }
    object["slice"] = nlohmann::json::array();
    for (std::size_t i = 0; i < slice.contains.size(); ++i) {
      if (slice.contains[i]) object["slice"].push_back(i);
    }
    object["reasons"] = nlohmann::json::array();
    for (const analysis::Dependence& reason : slice.reasons) {
      object["reasons"].push_back(
          {{"from", reason.from}, {"to", reason.to}, {"kind", analysis::name_of(reason.kind)}});
    }
    print_json(object);
    return ExitCode::Done;
  }
  fmt::print("Event {} of {} may depend on {} of the {} events up to it", slice.at, run.id,
             slice.size - 1, slice.at);
  if (code != nullptr) {
    fmt::print(", and on {} of the program's {} instructions:\n\n", slice.instructions,
               code->graph.instruction_count());
  } else {
    fmt::print("{}:\n\n",
               flags.whole_threads
                   ? ""
                   : " (of each thread all, as its program is not the one that was run)");
  }
  for (std::size_t i = 0; i < slice.contains.size(); ++i) {
    if (!slice.contains[i]) continue;
    const trace::Event& event = trace.events[i];
    fmt::print("{:>6}  {:<8} {:<16} {}\n", i, trace.threads[event.thread].path, where(i),
               trace::describe(trace, event));
  }
  return ExitCode::Done;
}

}  // namespace

void add_slice_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<SliceFlags>();
  CLI::App* const command =
      add_command(app, invocation, "slice", "Show what an event of a kept run may depend on",
                  "heddle slice latest --at 120");
  command->add_option("run", flags->run, "which run: its id, or latest")->capture_default_str();
  command->add_option("--at", flags->at,
                      "number of the event, as `heddle show --events` counts (default: the last "
                      "one of the thread that failed)");
  command->add_flag("--whole-threads", flags->whole_threads,
                    "follow dependences between threads only: of each thread every earlier event "
                    "counts");
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return slice(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
