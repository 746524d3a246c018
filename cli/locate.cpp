// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "abi/names.h"
#include "analysis/localise/localise.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/kept_run.h"
#include "cli/present.h"
#include "cli/terminal.h"
#include "cli/variable_names.h"
#include "driver/program_oracle.h"
#include "report/finding_json.h"
#include "report/json.h"
#include "report/text/finding_text.h"
#include "store/store.h"
#include "trace/file.h"
#include "trace/schedule_text.h"

namespace heddle::cli {
namespace {

struct LocateFlags {
  std::string run = "latest";
  std::vector<std::string> with;
  std::string procedure = "all";
  std::string level = "all";
  std::string method = "locon";
  std::uint64_t runs = analysis::LocaliseOptions{}.max_passing;
  double time_seconds = 0;
  std::string fails_if;
  std::string sarif_file;
  bool context = false;
};

/// An execution that goes on for much longer than the failing one is not worth its end.
std::uint64_t event_bound(const trace::Trace& trace) {
  return 20'000 + 8 * trace.events.size();
}

analysis::LocaliseOptions options_of(const LocateFlags& flags, store::Store& store) {
  using analysis::Level;
  using analysis::Procedure;
  analysis::LocaliseOptions options;
  if (flags.procedure == "I") options.procedure = Procedure::One;
  if (flags.procedure == "II") options.procedure = Procedure::Two;
  if (flags.procedure == "III") options.procedure = Procedure::Three;
  if (flags.level == "PC") options.level = Level::Pc;
  if (flags.level == "TID") options.level = Level::Tid;
  if (flags.level == "LOOP") options.level = Level::Loop;
  options.falcon = flags.method == "falcon";
  options.max_passing = flags.runs;
  for (const std::string& run : flags.with) {
    const std::string id = store.find(run).id;
    options.given.push_back({store.load_trace(id), store.load_schedule(id), "", "", 0});
  }
  return options;
}

nlohmann::json json_of(const analysis::Localisation& localisation, const std::string& outcome,
                       const std::string& run, double seconds) {
  nlohmann::json object = json_result("locate", outcome, run, seconds);
  object["signature"] = report::to_json(trace::signature_of(localisation.failed.trace));
  object["findings"] = nlohmann::json::array();
  for (const analysis::Finding& finding : localisation.findings) {
    object["findings"].push_back(report::to_json(finding));
  }
  object["failed_pairs"] = localisation.failed_pairs;
  object["candidates"] = localisation.candidates;
  object["passing_runs"] = localisation.passing_runs;
  object["executions"] = localisation.executions;
  object["saturated"] = localisation.saturated;
  object["curve"] = localisation.curve;
  object["refuted"] = localisation.refuted;
  object["other_failures"] = localisation.other_failures;
  object["nearest_passing"] = nullptr;
  if (localisation.nearest) {
    object["nearest_passing"] = {
        {"common_events", localisation.common_events},
        {"schedule", report::text_json(trace::to_text(localisation.nearest->schedule))}};
  }
  return object;
}

void print_text(const analysis::Localisation& localisation, const store::RunSummary& summary) {
  const std::string& run = summary.id;
  const Terminal terminal = Terminal::of_standard_output();
  const report::Style style{terminal.colour, terminal.unicode};
  fmt::print("{} in {}\n\n", trace::signature(localisation.failed.trace), run);
  for (const analysis::Finding& finding : localisation.findings) {
    fmt::print("{}\n", report::finding_text(finding, style));
  }
  if (localisation.passing_runs == 0) {
    fmt::print(
        "No schedule was found under which the program passes: {} were tried. Perhaps the bug has\n"
        "nothing to do with scheduling. The program without preemptions: heddle run --strategy "
        "sequential -- ...\n\n",
        localisation.executions);
  } else if (localisation.findings.empty()) {
    fmt::print("No access pair tells this failure from the runs that pass.\n\n");
  }
  fmt::print("{}\n", report::comparison_text(localisation, style));
  fmt::print("{}", report::account_text(localisation, style));
  fmt::print("Bring it back:   heddle replay {0}\n", run);
  if (!is_reduced(summary)) fmt::print("Make it smaller: heddle reduce {0}\n", run);
}

ExitCode locate(const LocateFlags& flags, bool json) {
  store::Store store = store::Store::open_existing();
  ProgressLine progress(json);
  abi::Variant variant = abi::Variant::Full.with(abi::Variant::Loops);
  if (flags.context) variant = variant.with(abi::Variant::Calls);
  const KeptRun kept = open_kept_run(store, flags.run, "locate", flags.fails_if, progress, variant);
  const auto& [summary, inputs, failed, program] = kept;
  analysis::LocaliseOptions options = options_of(flags, store);
  driver::ProgramOracle oracle(program, inputs, event_bound(failed.trace),
                               event_bound(failed.trace), flags.fails_if);
  stop_on_interrupt();

  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  options.stop = [&] {
    return interrupted() || (flags.time_seconds > 0 && seconds() >= flags.time_seconds);
  };
  options.progress = [&](std::string_view phase, std::uint64_t executions) {
    progress.update([&] { return fmt::format("locating, {}: {} executions", phase, executions); });
  };
  analysis::Localisation localisation = analysis::localise(oracle, failed, options);
  name_variables(localisation, program.executable());
  progress.clear();

  if (!flags.sarif_file.empty()) {
    trace::write_file(flags.sarif_file,
                      report::to_sarif(localisation, HEDDLE_VERSION).dump(2) + "\n");
  }
  if (json) {
    const std::string outcome = localisation.passing_runs == 0       ? "no-passing-run"
                                : localisation.findings.empty()      ? "nothing-found"
                                : localisation.findings[0].confirmed ? "confirmed"
                                                                     : "suspected";
    print_json(json_of(localisation, outcome, summary.id, seconds()));
  } else {
    print_text(localisation, summary);
  }
  return ExitCode::Done;
}

}  // namespace

void add_locate_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<LocateFlags>();
  CLI::App* const command = add_command(app, invocation, "locate",
                                        "Say which accesses, on which lines, make a kept run fail",
                                        "heddle locate latest");
  command->add_option("run", flags->run, "which run: its id, or latest")->capture_default_str();
  command->add_option("--with", flags->with, "kept passing runs to compare with, too");
  command->add_option("--procedure", flags->procedure, "one test procedure only: I, II, III")
      ->check(CLI::IsMember({"all", "I", "II", "III"}))
      ->capture_default_str();
  command->add_option("--level", flags->level, "how exactly accesses are told apart: PC, TID, LOOP")
      ->check(CLI::IsMember({"all", "PC", "TID", "LOOP"}))
      ->capture_default_str();
  command
      ->add_option(
          "--method", flags->method,
          "locon, or falcon: the baseline, patterns ranked by how they come with the failure")
      ->check(CLI::IsMember({"locon", "falcon"}))
      ->capture_default_str();
  command->add_option("-n,--runs", flags->runs, "at most so many passing runs")
      ->capture_default_str();
  command->add_option("--time", flags->time_seconds, "seconds to try; 0: until it is done")
      ->capture_default_str();
  command->add_flag("--context", flags->context, "show in which calls each access was made");
  command->add_option("--fails-if", flags->fails_if, "the predicate that judged the run");
  command->add_option("--sarif", flags->sarif_file, "also write the findings as SARIF 2.1.0 there");
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return locate(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
