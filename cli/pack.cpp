// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "cli/command.h"
#include "cli/packed_run.h"
#include "cli/present.h"
#include "cli/terminal.h"
#include "driver/libraries.h"
#include "store/pack_file.h"
#include "store/store.h"
#include "trace/file.h"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

struct PackFlags {
  std::string run = "latest";
  std::string output;
};

ExitCode pack(const PackFlags& flags, bool json) {
  const auto begin = std::chrono::steady_clock::now();
  const store::Store store = store::Store::open_existing();
  const store::RunSummary summary = store.find(flags.run);
  const std::string output = flags.output.empty() ? summary.id + ".heddle" : flags.output;
  ProgressLine progress(json);
  const store::RunInputs inputs = store.load_inputs(summary.id);
  const driver::Program program = driver::Program::open(
      inputs.arguments.at(0), [&](std::string_view text) { progress.say(text); });
  if (program.build_id() != summary.build_id) {
    throw user_error(fmt::format(
        "{} was built again since {} was kept: the pack would not bring it back; build that "
        "version, or make the run again",
        program.name(), summary.id));
  }
  const driver::Libraries libraries = driver::libraries_of(program.executable());

  std::vector<store::PackedFile> files;
  files.push_back({kPackProgram, true, trace::read_file(program.executable())});
  files.push_back({kPackLoader, true, trace::read_file(libraries.loader)});
  for (const fs::path& library : libraries.files) {
    files.push_back({std::string(kPackLibraries) + "/" + library.filename().string(), false,
                     trace::read_file(library)});
  }
  store::add_directory(files, store.run_directory(summary.id), kPackRun);
  const std::string bytes = store::to_pack(files);
  trace::write_file(output, bytes);

  // What a colleague will do is done here once: a pack that does not replay is none.
  const PackedRun packed(output);
  const driver::Expectation expectation = packed.expectation();
  const driver::ReplayResult replayed =
      driver::Replayer(packed.program(), packed.inputs(), expectation).replay();
  progress.clear();
  if (json) {
    nlohmann::json object = json_result(
        "pack", replayed.reproduced ? "packed" : "not reproduced", summary.id,
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    object["file"] = output;
    object["bytes"] = bytes.size();
    object["libraries"] = libraries.files.size();
    object["reproduced"] = replayed.reproduced;
    if (!replayed.reproduced) object["difference"] = replayed.difference;
    print_json(object);
  } else if (replayed.reproduced) {
    fmt::print(
        "{} packed as {} ({:.1f} MB); from it the run comes back.\nElsewhere: heddle replay {}\n",
        summary.id, output, static_cast<double>(bytes.size()) / 1e6, output);
  } else {
    fmt::print("{} was written, but from it the run does not come back. First difference: {}\n",
               output, replayed.difference);
  }
  return replayed.reproduced ? ExitCode::Done : ExitCode::ProgramFailed;
}

}  // namespace

void add_pack_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<PackFlags>();
  CLI::App* const command =
      add_command(app, invocation, "pack",
                  "Make one file of a run, with everything it takes to replay it elsewhere",
                  "heddle pack latest -o failure.heddle");
  command->add_option("run", flags->run, "which run: its id, or latest")->capture_default_str();
  command->add_option("-o,--output", flags->output, "the file (default: the run's id.heddle)");
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return pack(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
