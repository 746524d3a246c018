// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "abi/names.h"
#include "cli/command.h"
#include "cli/present.h"
#include "cli/show_code.h"
#include "cli/show_sites.h"
#include "cli/terminal.h"
#include "report/json.h"
#include "store/store.h"
#include "trace/dump.h"
#include "trace/schedule_text.h"

namespace heddle::cli {
namespace {

struct ShowFlags {
  std::string run = "latest";
  bool events = false;
  bool all_events = false;
  bool schedule = false;
  bool output = false;
  std::string sites;
  std::vector<std::string> addresses;
  CodeSource source;
};

/// What the failure depends on, by event, if `heddle reduce` or `heddle slice` has found it out;
/// empty: not known.
std::vector<bool> slice_of(const store::Store& store, const store::RunSummary& run,
                           const trace::Trace& trace) {
  const std::optional<std::vector<bool>> known = store.load_slice(run.id);
  return known && known->size() == trace.events.size() ? *known : std::vector<bool>{};
}

ExitCode show(const ShowFlags& flags, bool json) {
  if (!flags.addresses.empty()) {
    return show_addresses(flags.sites, flags.addresses, flags.source, json);
  }
  if (!flags.source.core.empty() || !flags.source.process.empty()) {
    return show_stacks(flags.sites, flags.source, json);
  }
  if (!flags.sites.empty()) return show_sites(flags.sites, json);
  const store::Store store = store::Store::open_existing();
  const store::RunSummary run = store.find(flags.run);
  if (json) {
    const trace::Trace trace = store.load_trace(run.id);
    nlohmann::json object = json_result("show", abi::name_of(run.outcome), run.id, run.seconds);
    object["program"] = run.program;
    object["build_id"] = run.build_id;
    object["signature"] = report::to_json(trace::signature_of(trace));
    if (trace.outcome.failed()) object["failure"] = report::outcome_json(trace);
    object["threads"] = run.threads;
    object["events"] = run.events;
    object["switches"] = run.switches;
    object["preemptions"] = run.preemptions;
    object["schedule"] = trace::to_text(store.load_schedule(run.id));
    print_json(object);
    return ExitCode::Done;
  }
  if (flags.events) {
    fmt::print("{}", trace::dump(store.load_trace(run.id)));
  } else if (flags.schedule) {
    fmt::print("{}", trace::to_text(store.load_schedule(run.id)));
  } else if (flags.output) {
    const store::RunOutput output = store.load_output(run.id);
    fmt::print("{}", output.standard_output);
    fmt::print(stderr, "{}", output.standard_error);
  } else {
    const trace::Trace trace = store.load_trace(run.id);
    const std::vector<bool> shown =
        flags.all_events ? std::vector<bool>{} : slice_of(store, run, trace);
    fmt::print("{}  {}  {}  {}\n\n{}\n", run.id, run.created, run.program, size_text(run),
               story_text(trace, Terminal::of_standard_output(), shown));
    const std::size_t overlooked = store.load_schedule(run.id).overlooked.size();
    if (overlooked != 0) {
      fmt::print(
          "Accesses at {} place{} that the failure does not depend on are not seen: heddle show {} "
          "--schedule\n\n",
          overlooked, overlooked == 1 ? "" : "s", run.id);
    }
    print_next(run.id, is_reduced(run));
  }
  return ExitCode::Done;
}

}  // namespace

void add_show_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<ShowFlags>();
  CLI::App* const command = add_command(
      app, invocation, "show", "Tell what happened in a kept run, or what is known of a program",
      "heddle show r1 (or: heddle show --sites ./prog)");
  command->add_option("run", flags->run, "which run: its id, or latest")->capture_default_str();
  command->add_flag("--events", flags->events, "every event, one a line");
  command->add_flag("--all-events", flags->all_events,
                    "tell also of events that the failure does not depend on");
  command->add_flag("--schedule", flags->schedule, "the schedule file");
  command->add_flag("--output", flags->output, "what the program printed");
  command
      ->add_option("--sites", flags->sites,
                   "instead of a run: the instructions of a program or a shared library that are "
                   "controlled, and why others are not")
      ->type_name("PROG");
  command
      ->add_option("--pc", flags->addresses,
                   "with --sites: which of them is at this address of the program's full variant, "
                   "of its own file if that is a variant, or of the core or process")
      ->type_name("ADDRESS")
      ->needs("--sites");
  CLI::Option* const core =
      command
          ->add_option("--core", flags->source.core,
                       "with --sites: every thread's stack in this core, on source lines and sites")
          ->type_name("FILE")
          ->needs("--sites");
  command
      ->add_option("--pid", flags->source.process,
                   "with --sites: the same of a process, which goes on afterwards")
      ->type_name("PID")
      ->needs("--sites")
      ->excludes(core);
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return show(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
