// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "abi/names.h"
#include "analysis/reduce/reduce.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/present.h"
#include "cli/run_options.h"
#include "cli/terminal.h"
#include "driver/program_oracle.h"
#include "store/store.h"

namespace heddle::cli {
namespace {

struct ReduceFlags {
  std::string run = "latest";
  double time_seconds = 0;
  std::string fails_if;
};

nlohmann::json to_json(const analysis::Size& size) {
  return {{"threads", size.threads},
          {"events", size.events},
          {"switches", size.switches},
          {"preemptions", size.preemptions},
          {"replay_seconds", size.replay_seconds}};
}

std::uint64_t max_events_of(const trace::Trace& trace) {
  const auto found = trace.header.options.find("max_events");
  return found == trace.header.options.end() ? abi::Options{}.max_events
                                             : std::stoull(found->second);
}

void print_account(const analysis::Reduction& reduction, const store::RunId& id) {
  const auto row = [](const char* what, std::uint64_t before, std::uint64_t after) {
    fmt::print("  {:<12} {:>7} -> {}\n", what, before, after);
  };
  fmt::print("Reduced to {} in {} trials{}:\n", id, reduction.trials,
             reduction.stopped ? " (stopped early)" : "");
  row("threads", reduction.before.threads, reduction.after.threads);
  row("events", reduction.before.events, reduction.after.events);
  row("switches", reduction.before.switches, reduction.after.switches);
  row("preemptions", reduction.before.preemptions, reduction.after.preemptions);
  if (!reduction.removed_threads.empty()) {
    fmt::print("  not needed: {}\n", fmt::join(reduction.removed_threads, ", "));
  }
  if (!reduction.sequential_passes) {
    fmt::print(
        "  The program also fails when its threads run one after the other, so whether a\n"
        "  removed thread's work is missing could not be asked.\n");
  }
}

ExitCode reduce(const ReduceFlags& flags, bool json) {
  store::Store store = store::Store::open_existing();
  const store::RunSummary summary = store.find(flags.run);
  const driver::Inputs inputs = from_stored(store.load_inputs(summary.id));
  const store::RunOutput output = store.load_output(summary.id);
  const analysis::Attempt original{store.load_trace(summary.id), store.load_schedule(summary.id),
                                   output.standard_output, output.standard_error, summary.seconds};
  if (original.trace.outcome.kind == abi::FailureKind::Predicate && flags.fails_if.empty()) {
    throw user_error(
        fmt::format("{} was judged by a predicate; say it again: heddle reduce {} --fails-if '...'",
                    summary.id, summary.id));
  }
  ProgressLine progress(json);
  const driver::Program program = driver::Program::open(
      inputs.arguments.at(0), [&](std::string_view text) { progress.say(text); });
  driver::ProgramOracle oracle(program, inputs, max_events_of(original.trace), flags.fails_if);
  stop_on_interrupt();

  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  analysis::ReduceOptions options;
  options.stop = [&] {
    return interrupted() || (flags.time_seconds > 0 && seconds() >= flags.time_seconds);
  };
  options.progress = [&](const char* phase, std::uint64_t trials, const analysis::Size& best) {
    progress.update([&] {
      return fmt::format("reducing {}: {} trials, {} threads, {} preemptions, {} events", phase,
                         trials, best.threads, best.preemptions, best.events);
    });
  };
  const analysis::Reduction reduction = analysis::reduce(oracle, original, options);
  progress.clear();

  const analysis::Attempt& best = reduction.best;
  const store::RunId id = store.add({"reduce",
                                     best.trace,
                                     best.schedule,
                                     to_stored(inputs),
                                     {best.standard_output, best.standard_error},
                                     best.seconds});
  if (json) {
    nlohmann::json object =
        json_result("reduce", abi::name_of(best.trace.outcome.kind), id, seconds());
    object["from"] = summary.id;
    object["before"] = to_json(reduction.before);
    object["after"] = to_json(reduction.after);
    object["trials"] = reduction.trials;
    object["removed_threads"] = reduction.removed_threads;
    object["sequential_passes"] = reduction.sequential_passes;
    object["stopped"] = reduction.stopped;
    print_json(object);
  } else {
    print_account(reduction, id);
    fmt::print("\n{}\n", story_text(best.trace, Terminal::of_standard_output()));
    print_next(id);
  }
  return ExitCode::Done;
}

}  // namespace

void add_reduce_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<ReduceFlags>();
  CLI::App* const command = add_command(
      app, invocation, "reduce", "Find the smallest run that still shows a kept run's failure",
      "heddle reduce latest");
  command->add_option("run", flags->run, "which run: its id, or latest")->capture_default_str();
  command
      ->add_option("--time", flags->time_seconds, "seconds to try; 0: until nothing gets smaller")
      ->capture_default_str();
  command->add_option("--fails-if", flags->fails_if, "the predicate that judged the run");
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return reduce(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
