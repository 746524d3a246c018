// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "abi/names.h"
#include "analysis/order/recording.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/present.h"
#include "cli/run_options.h"
#include "cli/terminal.h"
#include "driver/recorder.h"
#include "report/json.h"
#include "store/run_json.h"
#include "store/store.h"
#include "trace/file.h"
#include "trace/packed_log.h"

namespace heddle::cli {
namespace {

struct RecordFlags : RunFlags {
  std::string mode = "order";
  std::string recover;  // a log that was left behind
  std::uint64_t max_log = 1024;
  std::uint64_t attempts = 1;
  bool keep_all = false;
  bool pauses = false;
};

/// What all recordings of one command came to.
struct Tally {
  std::uint64_t recordings = 0;
  std::uint64_t failing = 0;
  std::uint64_t lost = 0;  // did not come back under control
  std::uint64_t log_bytes = 0;
  double seconds = 0;  // of the recordings alone
  std::string first_loss;
  std::string lost_log;  // the log of the last one that did not come back
  std::string note;
  std::uint64_t packed_bytes = 0;  // of the logs of runs that were looked at again
  double replay_seconds = 0;       // of those kept, under control
  std::uint64_t left_out = 0;
  std::uint32_t dropped = 0;      // segments that the last run looked at has lost
  std::set<std::string> unknown;  // what programs used that is not recorded
  std::vector<store::RunId> runs;
  nlohmann::json failures = nlohmann::json::array();
};

/// What a log says of the program, so that it can be read without anything else.
std::string log_text(const driver::Program& program, const driver::Inputs& inputs) {
  return nlohmann::json({{"program", program.name()},
                         {"build_id", program.build_id()},
                         {"inputs", nlohmann::json::parse(store::to_json(to_stored(inputs)))}})
      .dump();
}

/// A log that was left behind, with the program it is of.
struct Leftover {
  std::string bytes;
  bool complete = true;
  std::string build_id;
  driver::Inputs inputs;
};

/// Without the room that was never used: a log that was left behind is as long as it might have
/// become.
std::string read_used(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  std::string bytes(sizeof(abi::RecordingHeader), '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!in) return trace::read_file(name);
  abi::RecordingHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::error_code error;
  const std::uint64_t there = std::filesystem::file_size(name, error);
  const std::uint64_t used = header.chunks + driver::used_chunk_bytes(header);
  if (error || std::memcmp(header.magic, abi::kRecordingMagic, sizeof header.magic) != 0 ||
      used < bytes.size() || used >= there) {
    return trace::read_file(name);
  }
  bytes.resize(used);
  in.read(bytes.data() + sizeof header, static_cast<std::streamsize>(used - sizeof header));
  return bytes;
}

Leftover read_leftover(const std::string& name) {
  Leftover log;
  log.bytes = read_used(name);
  if (trace::is_packed_log(log.bytes)) {
    trace::UnpackedLog unpacked = trace::unpack_log(log.bytes, name);
    log.bytes = std::move(unpacked.bytes);
    log.complete = unpacked.complete;
  }
  const std::string text = analysis::read_recording(log.bytes, name).text;
  try {
    const nlohmann::json about = nlohmann::json::parse(text);
    log.build_id = about.at("build_id").get<std::string>();
    log.inputs = from_stored(store::inputs_from_json(about.at("inputs").dump(), name));
  } catch (const nlohmann::json::exception&) {
    throw user_error(
        fmt::format("{}: damaged log: it does not say what it is of; record again", name));
  }
  return log;
}

class Recording {
 public:
  Recording(const RecordFlags& flags, const driver::Inputs& inputs, bool json)
      : flags_(flags),
        json_(json),
        progress_(json),
        program_(driver::Program::open(program_of(inputs),
                                       [&](std::string_view text) { progress_.say(text); })),
        inputs_(inputs),
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
    const std::filesystem::path directory = store_.directory() / "tmp";
    std::filesystem::create_directories(directory);
    driver::RecordingFile log(directory / fmt::format("recording-{}.log", getpid()),
                              log_text(program_, inputs_), flags_.max_log << 20);
    driver::ParallelRecorder recorder(program_, inputs_, limits_, log, flags_.pauses);
    stop_on_interrupt();
    while (tally_.recordings < flags_.attempts && !interrupt_flag()) {
      driver::RecordedRun recorded = recorder.record();
      ++tally_.recordings;
      tally_.seconds += recorded.seconds;
      tally_.log_bytes += recorded.log_bytes;
      if (recorded.failed()) ++tally_.failing;
      if (recorded.failed() || flags_.keep_all) keep(recorded, log.bytes());
      progress_.update([&] {
        return fmt::format("{} of {} recordings, {} failing", tally_.recordings, flags_.attempts,
                           tally_.failing);
      });
      if (tally_.failing > tally_.lost && !flags_.keep_all) break;
    }
    return finish();
  }

  /// Keeps what there is of a run whose recording was never finished.
  ExitCode recover(const Leftover& log) {
    if (log.build_id != program_.build_id()) {
      throw user_error(
          fmt::format("{} is of another build of {} (build id {}); bring that one back, or record "
                      "again",
                      flags_.recover, program_.name(), log.build_id));
    }
    driver::RecordedRun recorded = driver::run_of(log.bytes, flags_.recover, inputs_);
    tally_.recordings = 1;
    tally_.log_bytes = recorded.log_bytes;
    keep(recorded, log.bytes);
    if (!log.complete && tally_.note.empty()) {
      tally_.note = flags_.recover + " is cut off: what was there is used";
    }
    return finish();
  }

 private:
  ExitCode finish() {
    progress_.clear();
    report();
    if (tally_.runs.empty() && tally_.lost > 0) return ExitCode::Environment;
    return tally_.failing > 0 ? ExitCode::ProgramFailed : ExitCode::Done;
  }

  /// Where a log that was left behind ends otherwise than the run that was made of it.
  std::string end_of_log(std::uint64_t events, std::uint64_t operations) const {
    if (events > operations) {
      return fmt::format(
          "{} ends after {} operations: what the run does then, {} events, was not recorded",
          flags_.recover, operations, events - operations);
    }
    if (events < operations) {
      return fmt::format(
          "{} has {} operations, but the run ends after {}: what the program was told there is "
          "cut off",
          flags_.recover, operations, events);
    }
    return {};
  }

  /// The log of a run that did not come back, for whoever wants to know why. Only the last one.
  void keep_log(std::string_view log) {
    tally_.lost_log = (store_.directory() / "lost.log").string();
    trace::write_file(tally_.lost_log, trace::pack_log(log));
  }

  void keep(driver::RecordedRun& recorded, std::string_view log) {
    driver::complete_inputs(recorded);
    const driver::EnforcedRun enforced =
        driver::enforce(program_, limits_, flags_.options.max_events, recorded);
    tally_.packed_bytes += trace::pack_log(log).size();
    tally_.left_out += enforced.left_out;
    const auto& checkpoint = recorded.recording.checkpoint;
    tally_.dropped = checkpoint ? checkpoint->number : 0;
    for (const std::string& source : recorded.unknown) tally_.unknown.insert(source);
    if (!enforced.difference.empty()) {
      ++tally_.lost;
      if (tally_.first_loss.empty()) tally_.first_loss = enforced.difference;
      if (flags_.recover.empty()) keep_log(log);
      return;
    }
    const driver::KeptRun& run = enforced.run;
    if (!recorded.ending) tally_.note = end_of_log(run.trace.events.size(), enforced.operations);
    const store::RunId id = store_.add({"record",
                                        run.trace,
                                        run.schedule,
                                        to_stored(recorded.inputs),
                                        {run.standard_output, run.standard_error},
                                        run.seconds});
    tally_.runs.push_back(id);
    tally_.replay_seconds += run.seconds;
    const bool failed = run.trace.outcome.failed();
    if (!recorded.ending && failed) ++tally_.failing;
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
      object["packed_bytes"] = tally_.packed_bytes;
      object["replay_seconds"] = tally_.replay_seconds;
      object["left_out"] = tally_.left_out;
      object["not_recorded"] = tally_.unknown;
      object["dropped_segments"] = tally_.dropped;
      if (!tally_.note.empty()) object["note"] = tally_.note;
      if (!tally_.first_loss.empty()) object["difference"] = tally_.first_loss;
      if (!tally_.lost_log.empty()) object["log"] = tally_.lost_log;
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
    if (!tally_.unknown.empty() && !tally_.runs.empty()) {
      fmt::print(stderr, "heddle: not recorded, and new in each replay: {}\n",
                 fmt::join(tally_.unknown, ", "));
    }
    if (tally_.dropped > 0) {
      fmt::print(stderr,
                 "heddle: the log was full: what was recorded before checkpoint {} is dropped, and "
                 "the run begins there (--max-log)\n",
                 tally_.dropped);
    }
    if (!tally_.note.empty()) fmt::print(stderr, "heddle: {}\n", tally_.note);
    if (tally_.left_out > 0 && !flags_.recover.empty()) {
      fmt::print(stderr, "heddle: {} operations at the end of the log have no place in its order\n",
                 tally_.left_out);
    }
    if (!tally_.lost_log.empty()) fmt::print(stderr, "heddle: its log: {}\n", tally_.lost_log);
    if (!tally_.runs.empty()) {
      print_next(tally_.runs.front(), false);
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
  if (!flags.recover.empty()) {
    if (!flags.command.empty()) {
      throw user_error("--recover: the log says which program it is of; give none");
    }
    const Leftover log = read_leftover(flags.recover);
    return Recording(flags, log.inputs, json).recover(log);
  }
  if (flags.command.empty()) {
    throw user_error("no program given; give it after --, as in: heddle record -- ./prog");
  }
  return Recording(flags, inputs_of(flags), json).run();
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
  command->add_flag("--pauses", flags->pauses,
                    "let threads pause now and then, so that they meet in other orders");
  command
      ->add_option("--max-events", flags->options.max_events,
                   "an execution with more operations than this is stopped")
      ->capture_default_str();
  command
      ->add_option("--max-log", flags->max_log,
                   "MiB of disk that the log of one execution may take")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--recover", flags->recover,
                      "instead of recording: keep what there is in a log that was left behind");
  add_program_flags(*command, *flags);
  command->get_option("program")->required(false);
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return record(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
