// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <span>

#include "analysis/conflicts/detect.h"
#include "analysis/conflicts/try_orders.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/pin_output.h"
#include "cli/run_options.h"
#include "cli/terminal.h"
#include "cli/variable_names.h"
#include "driver/pin/pinned_program.h"
#include "driver/program_oracle.h"
#include "driver/recorder.h"
#include "driver/recording_file.h"
#include "report/conflict_json.h"
#include "report/pin_json.h"
#include "report/text/conflict_text.h"
#include "trace/file.h"

namespace heddle::cli {
namespace {

struct ConflictFlags : RunFlags {
  std::uint64_t schedules = 100;
  std::uint64_t recordings = 5;
  std::uint32_t runs = 20;
  std::size_t most = 40;
  unsigned workers = 4;
  double time_seconds = 0;
  std::string directory;
  std::string sarif_file;
};

class ConflictHunt {
 public:
  ConflictHunt(const ConflictFlags& flags, bool json)
      : flags_(flags),
        json_(json),
        progress_(json),
        program_(driver::Program::open(flags.command[0],
                                       [&](std::string_view text) { progress_.say(text); })),
        inputs_(inputs_of(flags)) {
    if (!program_.instrumented()) {
      throw user_error(
          fmt::format("{} was not built with heddle-cc: its memory accesses cannot be seen; build "
                      "it with: heddle-cc, or heddle-c++",
                      program_.name()));
    }
  }

  ExitCode run() {
    stop_on_interrupt();
    driver::ProgramOracle oracle(program_, inputs_, kMaxEvents, kMaxEvents, flags_.fails_if);
    watch_controlled_runs(oracle);
    watch_native_runs();
    take_likeliest();
    analysis::propose_orders(conflicts_.found);
    analysis::steer_orders(oracle, schedules_, conflicts_.found, detector_, conflicts_, trials());
    take_over_proofs();
    analysis::choose(conflicts_, flags_.most);
    try_natively();
    analysis::rank(conflicts_);
    name_all();
    progress_.clear();
    return report();
  }

 private:
  static constexpr std::uint64_t kMaxEvents = 200'000;
  static constexpr std::uint64_t kMaxLogBytes = 256u << 20;  // mapped, used as far as needed

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  bool is_over() const {
    return interrupted() || (flags_.time_seconds > 0 && seconds() >= flags_.time_seconds);
  }

  analysis::TrialOptions trials() {
    analysis::TrialOptions options;
    options.runs = flags_.runs;
    options.stop = [this] { return is_over(); };
    options.progress = [this](std::string_view what) {
      progress_.update([&] { return fmt::format("conflicts, trying {}", what); });
    };
    return options;
  }

  void take(const analysis::Attempt& attempt) {
    detector_.add(attempt.trace, schedules_.size());
    schedules_.push_back(attempt.schedule);
    ++conflicts_.controlled_runs;
    if (attempt.trace.outcome.failed()) {
      ++conflicts_.controlled_failures[trace::signature(attempt.trace)];
    }
  }

  void watch_controlled_runs(driver::ProgramOracle& oracle) {
    take(oracle.follow(trace::Schedule{}));
    for (std::uint64_t seed = 1; seed < flags_.schedules && !is_over(); ++seed) {
      progress_.update([&] {
        return fmt::format("conflicts, run {} of {} under control: {} found", seed + 1,
                           flags_.schedules, detector_.size());
      });
      take(oracle.wander(schedules_.front(), seed));
    }
  }

  void watch_native_runs() {
    if (flags_.recordings == 0 || is_over()) return;
    try {
      record_runs();
    } catch (const Error& error) {
      // What cannot be recorded can still be controlled: one source of conflicts less.
      no_recording_ = error.what();
    }
  }

  void record_runs() {
    const driver::ExploreLimits limits = limits_of(flags_);
    driver::RecordingFile log(
        std::filesystem::temp_directory_path() / fmt::format("heddle-conflicts-{}.log", getpid()),
        "", kMaxLogBytes);
    driver::ParallelRecorder recorder(program_, inputs_, limits, log);
    for (std::uint64_t i = 0; i < flags_.recordings && !is_over(); ++i) {
      progress_.update([&] { return fmt::format("conflicts, recorded native run {}", i + 1); });
      const driver::EnforcedRun enforced =
          driver::enforce(program_, limits, kMaxEvents, recorder.record());
      if (!enforced.difference.empty()) {
        ++lost_recordings_;
        continue;
      }
      detector_.add(enforced.run.trace, schedules_.size());
      schedules_.push_back(enforced.run.schedule);
      ++conflicts_.recorded_runs;
    }
  }

  /// More than are tried natively: under control it shows which of them are worth that.
  void take_likeliest() {
    constexpr std::size_t kSteeredForEachTried = 20;
    conflicts_.found = detector_.conflicts();
    const std::size_t steered = kSteeredForEachTried * flags_.most;
    if (conflicts_.found.size() <= steered) return;
    conflicts_.left_out = conflicts_.found.size() - steered;
    conflicts_.found.resize(steered);
  }

  /// Steered runs may have shown what the locks only suggested.
  void take_over_proofs() {
    std::set<std::tuple<analysis::ConflictKind, std::string, std::string>> observed;
    const auto key = [](const analysis::Conflict& conflict) {
      const auto [lesser, greater] =
          std::minmax(conflict.pair.first.point.site, conflict.pair.second.point.site);
      return std::tuple(conflict.kind, lesser, greater);
    };
    for (const analysis::Conflict& conflict : detector_.conflicts()) {
      if (conflict.observed) observed.insert(key(conflict));
    }
    for (analysis::Conflict& conflict : conflicts_.found) {
      conflict.observed = observed.contains(key(conflict));
    }
  }

  bool touches_freed_memory() const {
    return std::ranges::any_of(conflicts_.found, [](const analysis::Conflict& conflict) {
      return conflict.kind == analysis::ConflictKind::Lifetime;
    });
  }

  /// As many at a time as one link has room for.
  void try_natively() {
    constexpr std::size_t kSitesOfOneLink = 60;
    file_.program = flags_.command[0];
    file_.arguments.assign(flags_.command.begin() + 1, flags_.command.end());
    if (!flags_.fails_if.empty()) {
      file_.failure.kind = abi::FailureKind::Predicate;
      file_.failure.fails_if = flags_.fails_if;
    }
    for (std::size_t next = 0; next < conflicts_.found.size() && !is_over();) {
      std::set<std::string> sites;
      std::vector<trace::Pins> sets;
      const std::size_t begin = next;
      for (; next < conflicts_.found.size() && sites.size() < kSitesOfOneLink; ++next) {
        const analysis::Conflict& conflict = conflicts_.found[next];
        sites.insert(conflict.pair.first.point.site);
        sites.insert(conflict.pair.second.point.site);
        for (const analysis::OrderTrial& order : conflict.orders) sets.push_back(order.pins);
      }
      sets.emplace_back();  // none: no order is the default of the link
      driver::PinnedProgram pinned(
          program_, inputs_, file_, sets, driver::NativeRunOptions{.workers = flags_.workers},
          [&](std::string_view text) { progress_.say(text); },
          touches_freed_memory() ? driver::FreedMemory::Watched
                                 : driver::FreedMemory::AsFailureSays);
      if (conflicts_.without.runs == 0) conflicts_.without = pinned.run({}, flags_.runs);
      for (std::size_t i = begin; i < next; ++i) {
        analysis::try_orders(pinned, conflicts_.found[i], conflicts_.without, trials());
      }
      analysis::combine_orders(pinned, std::span(conflicts_.found).subspan(begin, next - begin),
                               conflicts_.without, trials());
    }
  }

  void name_all() {
    VariableNames names(program_.executable());
    for (analysis::Conflict& conflict : conflicts_.found) {
      conflict.pair.variable = names.of(conflict.pair);
      for (analysis::FoundPair& pair : conflict.about) pair.variable = names.of(pair);
    }
  }

  const analysis::OrderTrial* worst() const {
    for (const analysis::Conflict& conflict : conflicts_.found) {
      for (const analysis::OrderTrial& order : conflict.orders) {
        if (order.effect == analysis::Effect::Fails || order.effect == analysis::Effect::Often) {
          return &order;
        }
      }
    }
    return nullptr;
  }

  ExitCode report() {
    if (!flags_.sarif_file.empty()) {
      trace::write_file(flags_.sarif_file,
                        report::to_sarif(conflicts_, HEDDLE_VERSION).dump(2) + "\n");
    }
    const analysis::OrderTrial* const failing = worst();
    PinOutput output;
    if (failing != nullptr) {
      file_.pins = failing->pins;
      quote_sources(file_);
      output = write_pin_output(file_, flags_.directory.empty()
                                           ? std::filesystem::path("heddle-pins")
                                           : std::filesystem::path(flags_.directory));
    }
    const std::string outcome = failing != nullptr         ? "failing-order"
                                : conflicts_.found.empty() ? "no-conflicts"
                                                           : "no-failing-order";
    if (json_) {
      print_json(to_json(outcome, output));
    } else {
      print_text(output);
    }
    return failing != nullptr ? ExitCode::ProgramFailed : ExitCode::Done;
  }

  nlohmann::json to_json(const std::string& outcome, const PinOutput& output) const {
    nlohmann::json object = json_result("conflicts", outcome, "", seconds());
    object["rows"] = report::rows_json(conflicts_);
    object["conflicts"] = conflicts_.found.size();
    object["left_out"] = conflicts_.left_out;
    object["controlled_runs"] = conflicts_.controlled_runs;
    object["controlled_failures"] = conflicts_.controlled_failures;
    object["recorded_runs"] = conflicts_.recorded_runs;
    object["lost_recordings"] = lost_recordings_;
    object["no_recording"] = no_recording_;
    object["without"] = report::to_json(conflicts_.without);
    object["complete"] = !is_over();
    object["files"] = {{"breakpoints", output.breakpoints.string()},
                       {"patch", output.patch.string()},
                       {"ctest", output.ctest.string()},
                       {"googletest", output.googletest.string()}};
    return object;
  }

  void print_text(const PinOutput& output) const {
    const Terminal terminal = Terminal::of_standard_output();
    const report::Style style{terminal.colour, terminal.unicode};
    fmt::print("{} conflict{} in {} runs under control and {} recorded native ones.\n",
               conflicts_.found.size() + conflicts_.left_out,
               conflicts_.found.size() + conflicts_.left_out == 1 ? "" : "s",
               conflicts_.controlled_runs, conflicts_.recorded_runs);
    for (const auto& [signature, count] : conflicts_.controlled_failures) {
      fmt::print("Under control {} fail: {}\n", count, signature);
    }
    if (conflicts_.without.runs > 0) {
      fmt::print("As it is, the program fails in {}.\n",
                 share_text(conflicts_.without.failures, conflicts_.without.runs));
    }
    if (lost_recordings_ > 0) {
      fmt::print("{} recorded runs did not come back under control: docs/record.md says why.\n",
                 lost_recordings_);
    }
    if (!no_recording_.empty()) fmt::print("No native run was recorded: {}.\n", no_recording_);
    fmt::print("\n");
    for (std::size_t i = 0; i < conflicts_.found.size(); ++i) {
      fmt::print("{}\n", report::conflict_text(conflicts_.found[i], i + 1, style));
    }
    if (conflicts_.left_out > 0) {
      fmt::print("{} more were not tried: --most {}\n", conflicts_.left_out,
                 conflicts_.found.size() + conflicts_.left_out);
    }
    if (is_over()) fmt::print("Stopped before all were tried.\n");
    if (!output.breakpoints.empty()) {
      fmt::print("Breakpoint file:  {}\n", output.breakpoints.string());
      if (!output.patch.empty()) fmt::print("Patch:            {}\n", output.patch.string());
      fmt::print("After the fix:    heddle pin --check {} -- {}\n", output.breakpoints.string(),
                 fmt::join(flags_.command, " "));
    } else if (!conflicts_.controlled_failures.empty()) {
      fmt::print(
          "No single order makes it fail natively. Look at a failing run: heddle explore -- "
          "{}\n",
          fmt::join(flags_.command, " "));
    }
  }

  const ConflictFlags& flags_;
  const bool json_;
  ProgressLine progress_;
  driver::Program program_;
  driver::Inputs inputs_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  analysis::ConflictDetector detector_;
  std::vector<trace::Schedule> schedules_;
  analysis::Conflicts conflicts_;
  std::uint64_t lost_recordings_ = 0;
  std::string no_recording_;  // why not
  trace::PinFile file_;
};

ExitCode conflicts(const ConflictFlags& flags, bool json) {
  if (flags.schedules == 0) throw user_error("--schedules: at least one run is needed");
  return ConflictHunt(flags, json).run();
}

}  // namespace

void add_conflicts_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<ConflictFlags>();
  CLI::App* const command =
      add_command(app, invocation, "conflicts",
                  "Find races and contentions, and try each in both orders: which makes it fail?",
                  "heddle conflicts -- ./prog --its-own-flag");
  command
      ->add_option("--schedules", flags->schedules, "runs under control to look for conflicts in")
      ->capture_default_str();
  command
      ->add_option("--recordings", flags->recordings,
                   "recorded native runs to look for conflicts in, too")
      ->capture_default_str();
  command->add_option("-n,--runs", flags->runs, "native runs of each order")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--most", flags->most, "at most so many conflicts are tried natively")
      ->capture_default_str();
  command->add_option("-j,--workers", flags->workers, "native runs at the same time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command->add_option("--time", flags->time_seconds, "seconds to try; 0: until it is done")
      ->capture_default_str();
  command->add_option(
      "-o,--output", flags->directory,
      "where to write the failing order's breakpoint file, patch and tests (default: "
      "heddle-pins)");
  command->add_option("--sarif", flags->sarif_file,
                      "also write the conflicts as SARIF 2.1.0 there");
  add_program_flags(*command, *flags);
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return conflicts(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
