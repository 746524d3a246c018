// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "cli/command.h"
#include "cli/packed_process.h"
#include "cli/packed_run.h"
#include "cli/present.h"
#include "cli/run_options.h"
#include "cli/terminal.h"
#include "driver/needed_libraries.h"
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

/// What it takes to start the program where nothing of it is. Libraries that it opens by itself
/// (dlopen) are not among it.
std::vector<driver::ProgramFile> program_files(const driver::Program& program) {
  std::vector<driver::ProgramFile> files;
  const fs::path loader = driver::dynamic_loader();
  files.push_back({"", program.executable(), kPackProgram});
  files.push_back({loader.string(), loader, kPackLoader});
  const auto add_library = [&](const fs::path& library) {
    files.push_back({library.string(), library,
                     fmt::format("{}/{}", kPackLibraries, library.filename().string())});
  };
  for (const driver::NeededLibrary& needed : program.needed()) {
    if (needed.file.filename() == loader.filename()) continue;
    add_library(needed.file);
    // Threads that end by pthread_exit need it, whether the program names it or not.
    const fs::path unwinder = needed.file.parent_path() / "libgcc_s.so.1";
    if (needed.name == "libc.so.6" && fs::exists(unwinder)) add_library(unwinder);
  }
  for (std::size_t i = 0; i < program.image().libraries.size(); ++i) {
    const driver::Image::Library& library = program.image().libraries[i];
    if (!library.opened.empty()) continue;
    files.push_back({library.file.string(), library.file,
                     fmt::format("{}/{:03}/{}", kPackVariants, i, library.name)});
  }
  return files;
}

std::vector<store::PackedFile> files_of(const driver::Program& program,
                                        const driver::Inputs& inputs) {
  const std::vector<driver::ProgramFile> of_program = program_files(program);
  std::vector<store::PackedFile> files;
  for (const driver::ProgramFile& file : of_program) {
    files.push_back({file.packed, true, trace::read_file(file.file)});
  }
  for (store::PackedFile& file : process_files(program, inputs, of_program)) {
    files.push_back(std::move(file));
  }
  return files;
}

ExitCode pack(const PackFlags& flags, bool json) {
  const auto begin = std::chrono::steady_clock::now();
  const store::Store store = store::Store::open_existing();
  const store::RunSummary summary = store.find(flags.run);
  const std::string output = flags.output.empty() ? summary.id + ".heddle" : flags.output;
  ProgressLine progress(json);
  const driver::Inputs inputs = from_stored(store.load_inputs(summary.id));
  const driver::Program program = driver::Program::open(
      program_of(inputs), [&](std::string_view text) { progress.say(text); },
      driver::variant_for(store.load_schedule(summary.id)));
  if (program.build_id() != summary.build_id) {
    throw user_error(fmt::format(
        "{} was built again since {} was kept: the pack would not bring it back; build that "
        "version, or make the run again",
        program.name(), summary.id));
  }
  std::vector<store::PackedFile> files = files_of(program, inputs);
  const std::size_t program_file_count = files.size();
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
    object["program_files"] = program_file_count;
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
