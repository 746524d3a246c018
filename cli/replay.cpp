// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/debug.h"
#include "cli/packed_run.h"
#include "cli/present.h"
#include "cli/run_options.h"
#include "cli/terminal.h"
#include "driver/replayer.h"
#include "store/pack_file.h"
#include "store/store.h"

namespace heddle::cli {
namespace {

struct ReplayFlags {
  std::string run = "latest";
  std::uint64_t times = 1;
  std::string carrier = "fiber";
  bool gdb = false;
  std::vector<std::string> gdb_arguments;
};

/// What came of some replays of one run.
struct Tally {
  std::uint64_t reproduced = 0;
  std::uint64_t events = 0;
  double seconds = 0;
  std::string difference;  // the first one
};

Tally replay_often(driver::Replayer& replayer, std::uint64_t times, ProgressLine& progress) {
  Tally tally;
  for (std::uint64_t i = 0; i < times; ++i) {
    const driver::ReplayResult result = replayer.replay();
    tally.reproduced += result.reproduced ? 1 : 0;
    tally.events = result.events;
    tally.seconds += result.seconds;
    if (!result.reproduced && tally.difference.empty()) tally.difference = result.difference;
    progress.update([&] { return fmt::format("{} of {} replays", i + 1, times); });
  }
  progress.clear();
  return tally;
}

ExitCode report(const Tally& tally, const std::string& run, std::uint64_t times, bool same_build,
                bool json) {
  const bool all = tally.reproduced == times;
  if (json) {
    nlohmann::json object =
        json_result("replay", all ? "reproduced" : "diverged", run, tally.seconds);
    object["reproduced"] = all;
    object["replays"] = times;
    object["identical"] = tally.reproduced;
    object["events"] = tally.events;
    object["same_build"] = same_build;
    if (!tally.difference.empty()) object["difference"] = tally.difference;
    print_json(object);
  } else {
    fmt::print("{}: {} of {} replays identical ({} events each, output and exit status included)\n",
               run, tally.reproduced, times, tally.events);
    if (!all) fmt::print("First difference: {}\n", tally.difference);
  }
  return all ? ExitCode::Done : ExitCode::ProgramFailed;
}

ExitCode replay_packed(const ReplayFlags& flags, bool json) {
  const PackedRun packed(flags.run);
  const driver::Expectation expectation = packed.expectation();
  ProgressLine progress(json);
  driver::Replayer replayer(packed.program(), packed.inputs(), expectation);
  return report(replay_often(replayer, flags.times, progress), packed.summary().id, flags.times,
                true, json);
}

/// What is written like a file is meant as one, and it is no pack.
void refuse_file(const std::string& run) {
  if (run.find_first_of("./") == std::string::npos) return;
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(run, ignored);
  throw user_error(fmt::format(
      "{}: {}; `heddle pack RUN` makes one, and a run that was kept here is named by its id "
      "(`heddle ls`) or latest",
      run, is_there ? "this is no packed run" : "there is no such file"));
}

ExitCode replay(const ReplayFlags& flags, bool json) {
  if (flags.gdb && json) throw user_error("--gdb is for people: it has no --json");
  if (flags.gdb) return debug_in_gdb(flags.run, flags.gdb_arguments);
  if (!flags.gdb_arguments.empty()) {
    throw user_error("what follows the run is for gdb: give --gdb as well");
  }
  if (flags.times == 0) throw user_error("-n: a run is replayed at least once");
  if (store::is_pack(flags.run)) return replay_packed(flags, json);
  refuse_file(flags.run);
  const store::Store store = store::Store::open_existing();
  const store::RunSummary summary = store.find(flags.run);
  const driver::Inputs inputs = from_stored(store.load_inputs(summary.id));
  const store::RunOutput output = store.load_output(summary.id);
  const driver::Expectation expectation{store.load_trace(summary.id),
                                        store.load_schedule(summary.id), output.standard_output,
                                        output.standard_error};
  ProgressLine progress(json);
  const driver::Program program = driver::Program::open(
      program_of(inputs), [&](std::string_view text) { progress.say(text); },
      driver::variant_for(expectation.schedule));
  const bool same_build = program.build_id() == summary.build_id;
  if (!same_build && !json) {
    progress.clear();
    fmt::print(stderr,
               "heddle: {} was built again since {} was recorded; its schedule is followed as far "
               "as the places it names are still there\n",
               program.name(), summary.id);
  }

  driver::Replayer replayer(program, inputs, expectation, flags.carrier);
  return report(replay_often(replayer, flags.times, progress), summary.id, flags.times, same_build,
                json);
}

}  // namespace

void add_replay_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<ReplayFlags>();
  CLI::App* const command =
      add_command(app, invocation, "replay", "Enforce a kept run and compare everything it does",
                  "heddle replay latest -n 20");
  command->add_option("run", flags->run, "which run: its id, latest, or a file made by pack")
      ->capture_default_str();
  command->add_option("-n,--times", flags->times, "how often")->capture_default_str();
  command
      ->add_option("--carrier", flags->carrier,
                   "what carries a thread, whichever did when the run was kept")
      ->check(CLI::IsMember({"fiber", "kernel"}))
      ->capture_default_str();
  command->add_flag("--gdb", flags->gdb,
                    "look at it in gdb, with the commands of `help heddle`; what follows -- is "
                    "for gdb");
  command->add_option("gdb-arguments", flags->gdb_arguments)->group("");
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return replay(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
