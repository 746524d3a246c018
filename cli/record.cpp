// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "abi/names.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/present.h"
#include "cli/run_options.h"
#include "cli/terminal.h"
#include "driver/recorder.h"
#include "report/json.h"
#include "store/store.h"

namespace heddle::cli {
namespace {

struct RecordFlags : RunFlags {
  std::string mode = "order";
  std::uint64_t attempts = 1;
  bool keep_all = false;
};

/// What all recordings of one command came to.
struct Tally {
  std::uint64_t recordings = 0;
  std::uint64_t failing = 0;
  std::uint64_t lost = 0;  // did not come back under control
  std::uint64_t log_bytes = 0;
  double seconds = 0;  // of the recordings alone
  std::string first_loss;
  std::vector<store::RunId> runs;
  nlohmann::json failures = nlohmann::json::array();
};

class Recording {
 public:
  Recording(const RecordFlags& flags, bool json)
      : flags_(flags),
        json_(json),
        progress_(json),
        program_(driver::Program::open(flags.command[0],
                                       [&](std::string_view text) { progress_.say(text); })),
        inputs_(inputs_of(flags)),
        limits_(limits_of(flags)),
        store_(store::Store::open_or_create()) {
    if (!program_.instrumented()) {
      throw user_error(fmt::format(
          "{} was not built with heddle-cc: the order of its memory accesses cannot be recorded; "
          "build it with: heddle-cc, or heddle-c++",
          program_.name()));
    }
  }

  ExitCode run() {
    driver::ParallelRecorder recorder(program_, inputs_, limits_, flags_.options.max_events);
    stop_on_interrupt();
    while (tally_.recordings < flags_.attempts && !interrupt_flag()) {
      const driver::RecordedRun recorded = recorder.record();
      ++tally_.recordings;
      tally_.seconds += recorded.seconds;
      tally_.log_bytes += recorded.log_bytes;
      if (recorded.ending.failed()) ++tally_.failing;
      if (recorded.ending.failed() || flags_.keep_all) keep(recorded);
      progress_.update([&] {
        return fmt::format("{} of {} recordings, {} failing", tally_.recordings, flags_.attempts,
                           tally_.failing);
      });
      if (tally_.failing > tally_.lost && !flags_.keep_all) break;
    }
    progress_.clear();
    report();
    if (tally_.runs.empty() && tally_.lost > 0) return ExitCode::Environment;
    return tally_.failing > 0 ? ExitCode::ProgramFailed : ExitCode::Done;
  }

 private:
  void keep(const driver::RecordedRun& recorded) {
    const driver::EnforcedRun enforced =
        driver::enforce(program_, limits_, flags_.options.max_events, recorded);
    if (!enforced.difference.empty()) {
      ++tally_.lost;
      if (tally_.first_loss.empty()) tally_.first_loss = enforced.difference;
      return;
    }
    const driver::KeptRun& run = enforced.run;
    const store::RunId id = store_.add({"record",
                                        run.trace,
                                        run.schedule,
                                        to_stored(recorded.inputs),
                                        {run.standard_output, run.standard_error},
                                        run.seconds});
    tally_.runs.push_back(id);
    const bool failed = run.trace.outcome.failed();
    if (failed) {
      tally_.failures.push_back({{"run", id},
                                 {"signature", report::to_json(trace::signature_of(run.trace))},
                                 {"recording", tally_.recordings}});
    }
    if (json_) return;
    progress_.clear();
    if (failed) {
      fmt::print("Failure in recording {}, kept as {}: {}\n\n{}\n", tally_.recordings, id,
                 trace::signature(run.trace),
                 story_text(run.trace, Terminal::of_standard_output()));
    } else {
      fmt::print("Recording {} kept as {}: {}\n", tally_.recordings, id,
                 size_text(store_.find(id)));
    }
  }

  void report() const {
    if (json_) {
      nlohmann::json object =
          json_result("record", tally_.failing > 0 ? "failure" : "none",
                      tally_.runs.empty() ? "" : tally_.runs.front(), tally_.seconds);
      object["recordings"] = tally_.recordings;
      object["failing"] = tally_.failing;
      object["not_reproduced"] = tally_.lost;
      object["log_bytes"] = tally_.log_bytes;
      object["runs"] = tally_.runs;
      object["failures"] = tally_.failures;
      if (!tally_.first_loss.empty()) object["difference"] = tally_.first_loss;
      print_json(object);
      return;
    }
    if (tally_.failing == 0) {
      fmt::print("No failure in {} recording{} ({:.1f} s).\n", tally_.recordings,
                 tally_.recordings == 1 ? "" : "s", tally_.seconds);
    }
    if (tally_.lost > 0) {
      fmt::print(stderr,
                 "heddle: {} recording{} did not come back under control and {} not kept: {}; "
                 "docs/record.md says what is not recorded\n",
                 tally_.lost, tally_.lost == 1 ? "" : "s", tally_.lost == 1 ? "was" : "were",
                 tally_.first_loss);
    }
    if (!tally_.runs.empty()) {
      print_next(tally_.runs.front());
    } else if (tally_.failing == 0) {
      fmt::print("More recordings: heddle record --until-failure {} -- {}\n", flags_.attempts * 100,
                 fmt::join(flags_.command, " "));
    }
  }

  const RecordFlags& flags_;
  bool json_;
  ProgressLine progress_;
  driver::Program program_;
  driver::Inputs inputs_;
  driver::ExploreLimits limits_;
  store::Store store_;
  Tally tally_;
};

ExitCode record(const RecordFlags& flags, bool json) {
  if (flags.mode != "order") {
    throw user_error(fmt::format("--mode: there is no '{}'; there is: order", flags.mode));
  }
  if (flags.attempts == 0) throw user_error("--until-failure: at least one recording is needed");
  if (flags.options.max_events == 0) {
    throw user_error("--max-events: a run needs at least one event");
  }
  return Recording(flags, json).run();
}

}  // namespace

void add_record_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<RecordFlags>();
  CLI::App* const command = add_command(
      app, invocation, "record", "Execute the program in parallel, uncontrolled, and record it",
      "heddle record --until-failure 1000 -- ./prog --its-own-flag");
  command->add_option("--mode", flags->mode, "what is recorded: order (of accesses to memory)")
      ->capture_default_str();
  command
      ->add_option("--until-failure", flags->attempts,
                   "record up to so many executions, until one fails")
      ->capture_default_str();
  command->add_flag("--keep-all", flags->keep_all, "keep passing runs too");
  command
      ->add_option("--max-events", flags->options.max_events,
                   "an execution with more operations than this is stopped")
      ->capture_default_str();
  add_program_flags(*command, *flags);
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return record(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
