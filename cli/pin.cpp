// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>

#include "abi/names.h"
#include "analysis/localise/localise.h"
#include "analysis/pin/pin.h"
#include "analysis/pin/propose.h"
#include "analysis/pin/race_report.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/kept_run.h"
#include "cli/pin_output.h"
#include "cli/present.h"
#include "cli/run_options.h"
#include "cli/terminal.h"
#include "driver/pin/native_run.h"
#include "driver/pin/pinned_program.h"
#include "driver/program_oracle.h"
#include "report/pin_json.h"
#include "store/store.h"
#include "trace/file.h"
#include "trace/words.h"

namespace heddle::cli {
namespace {

struct PinFlags : RunFlags {
  std::string check_file;
  std::string report_file;
  std::string directory;
  std::uint32_t runs = 100;
  unsigned workers = 4;
  double time_seconds = 0;
  double run_seconds = 20;

  driver::NativeRunOptions native() const {
    return {workers, std::chrono::milliseconds(static_cast<long>(1000 * run_seconds))};
  }
};

bool is_about_waiting(const trace::PinnedFailure& failure) {
  using abi::FailureKind;
  return failure.kind == FailureKind::Deadlock || failure.kind == FailureKind::LostWakeup ||
         failure.kind == FailureKind::NoProgress || failure.kind == FailureKind::Hang;
}

/// Nobody gives a native run more than it was recorded with: one that waits for more says nothing
/// about breakpoints, and a hundred of them take very long.
void refuse_if_it_waits(driver::PinnedProgram& pinned, const trace::PinFile& file,
                        const PinFlags& flags) {
  if (is_about_waiting(file.failure)) return;
  const analysis::NativeRuns alone = pinned.run({}, 1);
  if (!alone.other_failures.contains(driver::kStillRunning)) return;
  throw user_error(fmt::format(
      "{} is still running after {} s, without breakpoints: it seems to wait for input or for a "
      "process that nobody starts here; give it its input by --stdin FILE, run it with its peer as "
      "one program, or give it longer by --run-limit SECONDS",
      file.program, flags.run_seconds));
}

/// For how long, and when to stop.
class Watch {
 public:
  explicit Watch(double limit) : limit_(limit) {}
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  bool is_over() const { return interrupted() || (limit_ > 0 && seconds() >= limit_); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double limit_;
};

double mean(const std::vector<double>& values) {
  return values.empty() ? 0
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

trace::PinFile pin_file_of(const KeptRun& kept, const std::string& fails_if) {
  const trace::Trace& trace = kept.attempt.trace;
  const trace::Outcome& outcome = trace.outcome;
  trace::PinFile file;
  file.program = kept.inputs.arguments.at(0);
  file.arguments.assign(kept.inputs.arguments.begin() + 1, kept.inputs.arguments.end());
  file.failure = {outcome.kind, outcome.exit_code, outcome.signal, outcome.message, fails_if};
  if (outcome.site != trace::kNone && !trace.sites[outcome.site].frames.empty()) {
    const trace::Site& site = trace.sites[outcome.site];
    const trace::Frame& frame = site.frames.front();
    file.failed_at = {site.key, frame.file, frame.line, frame.function, {}};
  }
  return file;
}

std::vector<analysis::PinProposal> proposals_for(const KeptRun& kept, const PinFlags& flags,
                                                 const Watch& watch, ProgressLine& progress) {
  // An execution that goes on for much longer than the failing one is not worth its end.
  const std::uint64_t bound = 20'000 + 8 * kept.attempt.trace.events.size();
  driver::ProgramOracle oracle(kept.program, kept.inputs, bound, bound, flags.fails_if);
  analysis::LocaliseOptions options;
  options.stop = [&] { return watch.is_over(); };
  options.progress = [&](std::string_view phase, std::uint64_t executions) {
    progress.update([&] { return fmt::format("locating, {}: {} executions", phase, executions); });
  };
  return analysis::propose_pins(analysis::localise(oracle, kept.attempt, options));
}

std::string_view kind_text(const trace::PinnedFailure& failure) {
  return failure.kind == abi::FailureKind::None ? "a failure" : abi::name_of(failure.kind);
}

void print_pinning(const analysis::Pinning& pinning, const trace::PinFile& file,
                   const PinOutput& output, const std::string& run) {
  fmt::print("{}{}, pinned by {} breakpoint{} (from {}):\n\n", kind_text(file.failure),
             run.empty() ? "" : " in " + run, file.pins.size(), file.pins.size() == 1 ? "" : "s",
             pinning.origin);
  for (const trace::PinBreakpoint& breakpoint : file.pins) {
    fmt::print("{}", breakpoint_text(breakpoint));
  }
  fmt::print("\n  natively      fails in {}\n",
             share_text(pinning.without.failures, pinning.without.runs));
  fmt::print("  pinned        fails in {}, on average after {:.3f} s\n",
             share_text(pinning.with.failures, pinning.with.runs),
             mean(pinning.with.seconds_to_failure));
  fmt::print("                is hit in {}\n\n", share_text(pinning.with.hits, pinning.with.runs));
  if (!pinning.is_met()) {
    fmt::print(
        "  Threads hardly ever meet at {}: pauses that end in vain delay one of them, and that\n"
        "  makes it fail. No set of breakpoints that was tried is met and fails as often. It "
        "serves\n"
        "  as a test; what explains the failure is said by: heddle locate {}\n\n",
        file.pins.size() == 1 ? "the breakpoint" : "all of the breakpoints",
        run.empty() ? "RUN" : run);
  }
  fmt::print("Breakpoint file:  {}\n", output.breakpoints.string());
  if (!output.patch.empty()) fmt::print("Patch:            {}\n", output.patch.string());
  fmt::print("CTest:            {}\nGoogleTest:       {}\n", output.ctest.string(),
             output.googletest.string());
  fmt::print("After the fix:    heddle pin --check {} -- {}\n", output.breakpoints.string(),
             file.program);
}

/// What to pin: from a kept run, or from a report.
struct Task {
  std::string run;  // empty: none
  driver::Inputs inputs;
  trace::PinFile file;
  std::vector<analysis::PinProposal> proposals;
  std::filesystem::path directory;
};

nlohmann::json json_of(const analysis::Pinning& pinning, const Task& task, const PinOutput& output,
                       double seconds) {
  nlohmann::json object =
      json_result("pin", pinning.pins.empty() ? "not-pinned" : "pinned", task.run, seconds);
  object["breakpoints"] = nlohmann::json::array();
  for (const trace::PinBreakpoint& breakpoint : task.file.pins) {
    object["breakpoints"].push_back(report::to_json(breakpoint));
  }
  object["with"] = report::to_json(pinning.with);
  object["without"] = report::to_json(pinning.without);
  object["hit_percent"] = object["with"]["hit_percent"];
  object["failure_percent"] = object["with"]["failure_percent"];
  object["origin"] = pinning.origin;
  object["fails_by"] = pinning.pins.empty() ? "" : pinning.is_met() ? "meeting" : "pauses";
  object["tried"] = nlohmann::json::array();
  for (const analysis::TriedPins& tried : pinning.tried) {
    object["tried"].push_back({{"origin", tried.origin},
                               {"breakpoints", tried.breakpoints},
                               {"pause_ms", tried.pause_ms},
                               {"runs", tried.runs},
                               {"failures", tried.failures},
                               {"hits", tried.hits}});
  }
  object["files"] = {{"breakpoints", output.breakpoints.string()},
                     {"patch", output.patch.string()},
                     {"ctest", output.ctest.string()},
                     {"googletest", output.googletest.string()}};
  return object;
}

/// Tries the proposals and measures the best of them.
analysis::Pinning find_pins(const Task& task, const driver::Program& program, const PinFlags& flags,
                            const Watch& watch, ProgressLine& progress) {
  std::vector<trace::Pins> sets;
  for (const analysis::PinProposal& proposal : task.proposals) {
    sets.push_back(proposal.pins);
    for (const analysis::RefinedPins& refined : proposal.refined) sets.push_back(refined.pins);
  }
  driver::PinnedProgram pinned(program, task.inputs, task.file, sets, flags.native(),
                               [&](std::string_view text) { progress.say(text); });
  refuse_if_it_waits(pinned, task.file, flags);
  analysis::PinOptions options;
  options.runs = flags.runs;
  options.stop = [&] { return watch.is_over(); };
  options.progress = [&](std::string_view what) {
    progress.update([&] { return fmt::format("pinning, {}", what); });
  };
  analysis::Pinning pinning = analysis::choose_pins(pinned, task.proposals, options);
  if (pinning.with.failures == 0) pinning.pins.clear();  // a few trials failed by chance
  return pinning;
}

/// Writes down what was found, and says it.
ExitCode conclude(const analysis::Pinning& pinning, Task& task, const Watch& watch,
                  ProgressLine& progress, bool json) {
  progress.clear();
  task.file.pins = pinning.pins;
  quote_sources(task.file);
  PinOutput output;
  if (!pinning.pins.empty()) output = write_pin_output(task.file, task.directory);
  if (json) {
    print_json(json_of(pinning, task, output, watch.seconds()));
  } else if (!pinning.pins.empty()) {
    print_pinning(pinning, task.file, output, task.run);
  } else {
    fmt::print("None of {} sets of breakpoints brought a failure about in native runs.\n",
               task.proposals.size());
    if (!task.run.empty()) {
      fmt::print("It can still be brought back under control: heddle replay {}\n", task.run);
    }
  }
  return pinning.pins.empty() ? ExitCode::ProgramFailed : ExitCode::Done;
}

/// The run that a reduced one was made of: the last before it that failed in the same way. Natively
/// all threads run, and one that reduction left out may be in the way of the others.
std::optional<store::RunSummary> unreduced(const store::Store& store,
                                           const store::RunSummary& reduced) {
  if (!is_reduced(reduced)) return std::nullopt;
  std::optional<store::RunSummary> found;
  for (const store::RunSummary& run : store.list()) {
    if (run.id == reduced.id) break;
    const bool is_same = run.build_id == reduced.build_id && run.signature == reduced.signature;
    if (is_same && !is_reduced(run)) found = run;
  }
  return found;
}

ExitCode pin(const PinFlags& flags, bool json) {
  const store::Store store = store::Store::open_existing();
  ProgressLine progress(json);
  if (flags.command.size() > 1) {
    throw user_error(
        "one run at a time; to run a program with breakpoints: heddle pin --check FILE -- PROG");
  }
  const std::string name = flags.command.empty() ? "latest" : flags.command[0];
  // Calling contexts tell visits to one place apart.
  const auto open = [&](const std::string& run) {
    return open_kept_run(store, run, "pin", flags.fails_if, progress,
                         abi::Variant::Full.with(abi::Variant::Calls));
  };
  const KeptRun kept = open(name);
  if (!kept.attempt.trace.outcome.failed()) {
    throw user_error(fmt::format("{} did not fail: there is nothing to pin", kept.summary.id));
  }
  stop_on_interrupt();
  const Watch watch(flags.time_seconds);
  Task task{kept.summary.id, kept.inputs, pin_file_of(kept, flags.fails_if),
            proposals_for(kept, flags, watch, progress),
            flags.directory.empty() ? store.directory() / "pins" / kept.summary.id
                                    : std::filesystem::path(flags.directory)};
  analysis::Pinning pinning = find_pins(task, kept.program, flags, watch, progress);
  const std::optional<store::RunSummary> whole = unreduced(store, kept.summary);
  const bool holds = !pinning.pins.empty() && pinning.with.failures == pinning.with.runs;
  if (whole && !holds && !watch.is_over()) {
    progress.say(fmt::format("{} does not hold in every run; trying {}, from before it was reduced",
                             kept.summary.id, whole->id));
    const KeptRun original = open(whole->id);
    Task other = task;
    other.proposals = proposals_for(original, flags, watch, progress);
    analysis::Pinning better = find_pins(other, original.program, flags, watch, progress);
    pinning.tried.insert(pinning.tried.end(), better.tried.begin(), better.tried.end());
    if (better.with.failures > pinning.with.failures) {
      better.tried = std::move(pinning.tried);
      better.origin += ", of " + whole->id;
      pinning = std::move(better);
    }
  }
  return conclude(pinning, task, watch, progress, json);
}

/// The place with the names the program has for it; throws UnknownPlace.
trace::PinPlace known_place(trace::PinPlace place, const ir::SiteTable& sites) {
  const ir::SiteInfo info = *sites.find(driver::resolve(place, sites, false).front());
  const auto named = std::ranges::find_if(info.frames, [&](const trace::Frame& frame) {
    return frame.line == place.line && trace::base_name(frame.file) == trace::base_name(place.file);
  });
  const trace::Frame& frame = named != info.frames.end() ? *named : info.frames.front();
  place.file = frame.file;
  place.function = frame.function;
  return place;
}

/// The innermost frame that is in the program: what is above it belongs to libraries. The report
/// may come from another copy of the sources: a file is then known by its name alone.
trace::PinPlace place_in(const std::vector<trace::PinPlace>& stack, const ir::SiteTable& sites) {
  std::vector<trace::PinPlace> copies = stack;
  for (trace::PinPlace& place : copies) place.file = trace::base_name(place.file);
  for (const auto& places : {stack, copies}) {
    for (const trace::PinPlace& place : places) {
      try {
        return known_place(place, sites);
      } catch (const driver::UnknownPlace&) {
        continue;
      }
    }
  }
  return known_place(copies.front(), sites);  // says what is near
}

ExitCode pin_report(const PinFlags& flags, bool json) {
  if (flags.command.empty()) {
    throw user_error(
        fmt::format("which program? heddle pin --report {} -- PROG", flags.report_file));
  }
  const std::vector<analysis::ReportedRace> races =
      analysis::parse_race_report(trace::read_file(flags.report_file));
  if (races.empty()) {
    throw user_error(fmt::format(
        "{} has no data race with source lines; it should be what ThreadSanitizer or Helgrind "
        "printed about a program built with -g",
        flags.report_file));
  }
  ProgressLine progress(json);
  const Watch watch(flags.time_seconds);
  const driver::Program program =
      driver::Program::open(flags.command[0], [&](std::string_view text) { progress.say(text); });
  Task task;
  task.inputs = inputs_of(flags);
  task.file.program = flags.command[0];
  task.file.arguments.assign(flags.command.begin() + 1, flags.command.end());
  if (!flags.fails_if.empty()) {
    task.file.failure.kind = abi::FailureKind::Predicate;
    task.file.failure.fails_if = flags.fails_if;
  }
  task.directory = flags.directory.empty() ? std::filesystem::path("heddle-pins")
                                           : std::filesystem::path(flags.directory);
  for (std::size_t i = 0; program.sites() != nullptr && i < races.size(); ++i) {
    const ir::SiteTable& sites = *program.sites();
    for (analysis::PinProposal& proposal :
         analysis::propose_pins(place_in(races[i].one, sites), place_in(races[i].other, sites),
                                fmt::format("race {}", i + 1))) {
      task.proposals.push_back(std::move(proposal));
    }
  }
  stop_on_interrupt();
  return conclude(find_pins(task, program, flags, watch, progress), task, watch, progress, json);
}

/// What became of a pinned failure.
struct Verdict {
  const char* name;
  ExitCode code;
};

Verdict verdict_of(const analysis::NativeRuns& runs) {
  if (runs.failures > 0) return {"still there", ExitCode::ProgramFailed};
  if (runs.reached < runs.runs) return {"never reached", ExitCode::ProgramFailed};
  return {"gone", ExitCode::Done};
}

ExitCode check(PinFlags& flags, bool json) {
  const trace::PinFile file =
      report::parse_pin_file(trace::read_file(flags.check_file), flags.check_file);
  if (flags.command.empty()) {
    if (file.program.empty()) {
      throw user_error(
          fmt::format("which program? heddle pin --check {} -- PROG", flags.check_file));
    }
    flags.command = {file.program};
  }
  if (flags.command.size() == 1) {
    flags.command.insert(flags.command.end(), file.arguments.begin(), file.arguments.end());
  }
  ProgressLine progress(json);
  const auto say = [&](std::string_view text) { progress.say(text); };
  const Watch watch(flags.time_seconds);
  const driver::Program program = driver::Program::open(flags.command[0], say);
  const driver::Inputs inputs = inputs_of(flags);
  stop_on_interrupt();
  std::string missing;  // a place that is not in the program any more
  std::string executable;
  analysis::NativeRuns runs;
  Verdict verdict{"never reached", ExitCode::ProgramFailed};
  try {
    driver::PinnedProgram pinned(program, inputs, file, {file.pins}, flags.native(), say);
    executable = pinned.executable().string();
    runs = pinned.run(file.pins, flags.runs);
    verdict = verdict_of(runs);
  } catch (const driver::UnknownPlace& unknown) {
    missing = unknown.what();
  }
  progress.clear();
  if (json) {
    nlohmann::json object = json_result("pin", verdict.name, "", watch.seconds());
    object["breakpoints"] = nlohmann::json::array();
    for (const trace::PinBreakpoint& breakpoint : file.pins) {
      object["breakpoints"].push_back(report::to_json(breakpoint));
    }
    object["with"] = report::to_json(runs);
    object["hit_percent"] = object["with"]["hit_percent"];
    object["failure_percent"] = object["with"]["failure_percent"];
    object["reason"] = missing;
    object["executable"] = executable;
    print_json(object);
    return verdict.code;
  }
  fmt::print("{}: {}\n", verdict.name, kind_text(file.failure));
  if (!missing.empty()) {
    fmt::print("  {}\n", missing);
  } else {
    fmt::print("  fails in {}\n  every breakpoint is reached in {}\n",
               share_text(runs.failures, runs.runs), share_text(runs.reached, runs.runs));
    for (const auto& [how, count] : runs.other_failures) {
      fmt::print("  {} runs ended otherwise: {}\n", count, how);
    }
  }
  if (verdict.code != ExitCode::Done && runs.failures == 0) {
    fmt::print(
        "  The code has changed so that the breakpoints no longer apply: the test says nothing.\n"
        "  Look for the failure again: heddle explore -- {}\n",
        flags.command[0]);
  }
  return verdict.code;
}

}  // namespace

void add_pin_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<PinFlags>();
  CLI::App* const command = add_command(
      app, invocation, "pin",
      "Make a kept run's failure happen in (almost) every native run, and keep it as a test",
      "heddle pin latest\n  heddle pin --check prog.breakpoints.json -- ./prog");
  command->add_option("--check", flags->check_file,
                      "run a program with the breakpoints of this file: is the failure gone, still "
                      "there, or are the breakpoints never reached");
  command
      ->add_option("--report", flags->report_file,
                   "pin the data races of this report of ThreadSanitizer or Helgrind, each in "
                   "both orders, instead of a kept run")
      ->excludes("--check");
  command->add_option("-o,--output", flags->directory,
                      "where to write breakpoint file, patch and tests (default: pins/RUN in the "
                      "store; heddle-pins for a report)");
  command->add_option("-n,--runs", flags->runs, "native runs to measure with")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("-j,--workers", flags->workers, "native runs at the same time")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  command->add_option("--time", flags->time_seconds, "seconds to try; 0: until it is done")
      ->capture_default_str();
  command
      ->add_option("--run-limit", flags->run_seconds,
                   "seconds a native run may take; one that takes longer counts as stuck")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 86400.0));
  command->add_option("--fails-if", flags->fails_if, "the predicate that judged the run");
  command->add_option("--stdin", flags->standard_input_file,
                      "with --check and --report: the program's standard input, from this file");
  command->add_option(
      "run", flags->command,
      "which run: its id, or latest; with --check and --report: the program and its "
      "arguments, after --");
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] {
      if (!flags->check_file.empty()) return check(*flags, invocation.json);
      if (!flags->report_file.empty()) return pin_report(*flags, invocation.json);
      return pin(*flags, invocation.json);
    };
  });
}

}  // namespace heddle::cli
