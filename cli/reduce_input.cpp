// SPDX-License-Identifier: Apache-2.0
#include "cli/reduce_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "abi/names.h"
#include "cli/command.h"
#include "cli/kept_run.h"
#include "cli/present.h"
#include "cli/run_options.h"
#include "cli/scratch_directory.h"
#include "driver/build/subprocess.h"
#include "driver/program_oracle.h"
#include "trace/words.h"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

/// With another input the schedule leads elsewhere sooner or later; so many random ones are tried
/// before it is said that the failure is gone.
constexpr std::uint64_t kSchedules = 40;
constexpr std::uint64_t kMaxEvents = 200'000;

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw user_error(fmt::format("{} cannot be read", file.string()));
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The run's inputs with another file in the place of `file`.
driver::Inputs with_input(driver::Inputs inputs, const std::string& file, const fs::path& other) {
  const auto argument = std::find(inputs.arguments.begin() + 1, inputs.arguments.end(), file);
  if (argument != inputs.arguments.end()) {
    *argument = fs::absolute(other).string();
    return inputs;
  }
  inputs.standard_input = contents(other);
  return inputs;
}

void require_input(const driver::Inputs& inputs, const std::string& file) {
  const auto& arguments = inputs.arguments;
  if (std::find(arguments.begin() + 1, arguments.end(), file) != arguments.end()) return;
  if (!inputs.standard_input.empty() && inputs.standard_input == contents(file)) return;
  throw user_error(fmt::format(
      "the run was given no input '{}': name one of its arguments, or the file that was its "
      "standard input (heddle show tells)",
      file));
}

/// Nothing if the failure does not come back.
std::optional<analysis::Attempt> failure_with(const KeptRun& kept, const driver::Inputs& inputs,
                                              const std::string& fails_if) {
  driver::ProgramOracle oracle(kept.program, inputs, kMaxEvents, kMaxEvents, fails_if);
  const std::string signature = trace::signature(kept.attempt.trace);
  analysis::Attempt attempt = oracle.follow(kept.attempt.schedule);
  for (std::uint64_t seed = 1; trace::signature(attempt.trace) != signature; ++seed) {
    if (seed > kSchedules) return std::nullopt;
    attempt = oracle.wander(kept.attempt.schedule, seed);
  }
  return attempt;
}

std::string quoted(const std::string& word) {
  std::string result = "'";
  for (const char letter : word)
    result += letter == '\'' ? std::string("'\\''") : std::string{letter};
  return result + "'";
}

/// The reducer runs it where it has put a candidate under the file's own name.
fs::path write_test(const fs::path& directory, const InputReduction& flags, const std::string& run,
                    const std::string& name) {
  const fs::path test = directory / "test.sh";
  std::ofstream script(test);
  script << "#!/bin/sh\nhere=$PWD\ncd " << quoted(fs::current_path().string()) << " && exec "
         << quoted(fs::read_symlink("/proc/self/exe").string()) << " reduce " << run << " --input "
         << quoted(flags.file) << " --test-input \"$here\"/" << quoted(name);
  if (!flags.fails_if.empty()) script << " --fails-if " << quoted(flags.fails_if);
  script << " >/dev/null 2>&1\n";
  script.close();
  fs::permissions(test, fs::perms::owner_all);
  return test;
}

bool is_installed(const std::string& tool) {
  return build::run_tool({"sh", "-c", "command -v " + quoted(tool)}, {}, true).status == 0;
}

}  // namespace

ExitCode reduce_input(const InputReduction& flags, bool json) {
  store::Store store = store::Store::open_existing();
  ProgressLine progress(json);
  const auto begin = std::chrono::steady_clock::now();
  const KeptRun kept = open_kept_run(store, flags.run, "reduce", flags.fails_if, progress);
  if (!kept.attempt.trace.outcome.failed()) {
    throw user_error("the run did not fail: there is nothing to reduce");
  }
  require_input(kept.inputs, flags.file);
  if (!flags.test.empty()) {
    const bool fails =
        failure_with(kept, with_input(kept.inputs, flags.file, flags.test), flags.fails_if)
            .has_value();
    return fails ? ExitCode::Done : ExitCode::ProgramFailed;
  }
  if (!is_installed(flags.reducer)) {
    throw environment_error(fmt::format(
        "{} is not installed, and inputs are reduced by it; on Debian: apt-get install cvise, or "
        "name another reducer that is called with a test and a file: --reducer creduce",
        flags.reducer));
  }
  const ScratchDirectory scratch("input");
  const std::string name = fs::path(flags.file).filename().string();
  fs::copy_file(flags.file, scratch.path() / name);
  const fs::path test = write_test(scratch.path(), flags, kept.summary.id, name);
  // It is started in a directory of its own.
  const bool is_path = flags.reducer.find('/') != std::string::npos;
  const std::string reducer = is_path ? fs::absolute(flags.reducer).string() : flags.reducer;
  progress.say(fmt::format("{} makes {} smaller ...", flags.reducer, name));
  const build::ToolResult done =
      build::run_tool({reducer, test.string(), name}, scratch.path(), true);
  progress.clear();
  if (done.status != 0) {
    throw environment_error(
        fmt::format("{} ended with status {}:\n{}", flags.reducer, done.status, done.output));
  }
  const fs::path smaller = flags.file + ".reduced";
  fs::copy_file(scratch.path() / name, smaller, fs::copy_options::overwrite_existing);
  const driver::Inputs inputs = with_input(kept.inputs, flags.file, smaller);
  const std::optional<analysis::Attempt> failing = failure_with(kept, inputs, flags.fails_if);
  if (!failing) throw defect("the failure is gone with the input that its own test accepted");
  const store::RunId id = store.add({"reduce",
                                     failing->trace,
                                     failing->schedule,
                                     to_stored(inputs),
                                     {failing->standard_output, failing->standard_error},
                                     failing->seconds});
  const std::uintmax_t before = fs::file_size(flags.file);
  const std::uintmax_t after = fs::file_size(smaller);
  if (json) {
    nlohmann::json object = json_result(
        "reduce", abi::name_of(failing->trace.outcome.kind), id,
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    object["from"] = kept.summary.id;
    object["input"] = {
        {"file", smaller.string()}, {"bytes_before", before}, {"bytes_after", after}};
    print_json(object);
  } else {
    fmt::print("{}: {} -> {} bytes, in {}\nKept as {}; smaller still: heddle reduce {}\n", name,
               before, after, smaller.string(), id, id);
  }
  return ExitCode::Done;
}

}  // namespace heddle::cli
