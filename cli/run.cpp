// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <memory>

#include "abi/names.h"
#include "cli/command.h"
#include "cli/present.h"
#include "cli/run_options.h"
#include "cli/terminal.h"
#include "driver/explorer.h"
#include "driver/trace_builder.h"
#include "report/json.h"
#include "store/store.h"
#include "trace/counts.h"
#include "trace/schedule_text.h"

namespace heddle::cli {
namespace {

struct OneRunFlags : RunFlags {
  std::string schedule_file;
  std::vector<std::string> steps;
};

abi::Variant variant_of(const OneRunFlags& flags) {
  std::string name = abi::Variant::Full.name();
  for (const std::string& step : flags.steps) name += "+" + step;
  const std::optional<abi::Variant> variant = abi::Variant::of_name(name);
  if (!variant) {
    throw user_error(
        fmt::format("--steps: there is no '{}'; there are: loops, calls, blocks, branches",
                    fmt::join(flags.steps, ",")));
  }
  return *variant;
}

ExitCode run(OneRunFlags& flags, bool json) {
  ProgressLine progress(json);
  trace::Schedule schedule;
  if (!flags.schedule_file.empty()) schedule = trace::read_schedule(flags.schedule_file);
  const driver::Program program = open_program(
      flags, [&](std::string_view text) { progress.say(text); },
      variant_of(flags).with(driver::variant_for(schedule).extras));
  const driver::Inputs inputs = inputs_of(flags);
  std::vector<abi::PlanRecord> plan;
  if (!flags.schedule_file.empty()) {
    plan = driver::make_plan(program, schedule);
    flags.strategy = "replay";
    flags.memory_model = schedule.memory_model;
  } else if (flags.strategy != "random" && flags.strategy != "pct" && flags.strategy != "pos" &&
             flags.strategy != "sequential") {
    throw user_error(fmt::format(
        "--strategy: run has no '{}'; there are: random, pct, pos, sequential", flags.strategy));
  }
  const driver::KeptRun kept =
      driver::run_once(program, inputs, options_of(flags), plan, limits_of(flags));
  progress.clear();

  store::Store store = store::Store::open_or_create();
  const store::RunId id = store.add({"run",
                                     kept.trace,
                                     kept.schedule,
                                     to_stored(inputs),
                                     {kept.standard_output, kept.standard_error},
                                     kept.seconds});
  const trace::Outcome& outcome = kept.trace.outcome;
  if (json) {
    nlohmann::json object = json_result("run", abi::name_of(outcome.kind), id, kept.seconds);
    object["events"] = kept.trace.events.size();
    object["steps"] = kept.trace.steps.size();
    object["threads"] = trace::program_threads(kept.trace, kept.schedule);
    object["exit_code"] = outcome.exit_code;
    object["nondeterminism"] =
        kept.leak ? nlohmann::json{{"difference", *kept.leak}} : nlohmann::json();
    if (outcome.failed()) {
      object["signature"] = report::to_json(trace::signature_of(kept.trace));
      object["failure"] = report::outcome_json(kept.trace);
    }
    print_json(object);
  } else {
    fmt::print("{}", kept.standard_output);
    fmt::print(stderr, "{}", kept.standard_error);
    if (outcome.failed()) {
      fmt::print("{}\n", story_text(kept.trace, Terminal::of_standard_output()));
      print_next(id, false);
    } else {
      fmt::print("Kept as {}: {}\n", id, size_text(store.find(id)));
    }
  }
  if (kept.leak) {
    if (!json) print_leak(1, *kept.leak);
    return ExitCode::Environment;
  }
  return outcome.failed() ? ExitCode::ProgramFailed : ExitCode::Done;
}

}  // namespace

void add_run_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<OneRunFlags>();
  CLI::App* const command =
      add_command(app, invocation, "run", "Execute the program once, controlled",
                  "heddle run --seed 7 -- ./prog --its-own-flag");
  add_run_flags(*command, *flags);
  command->add_option("--schedule", flags->schedule_file,
                      "follow this schedule file instead of a strategy");
  command
      ->add_option("--steps", flags->steps,
                   "also record what only the thread itself notices, without changing the run: any "
                   "of loops, calls, blocks, branches")
      ->delimiter(',');
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return run(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
