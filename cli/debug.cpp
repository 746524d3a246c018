// SPDX-License-Identifier: Apache-2.0
#include "cli/debug.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "abi/names.h"
#include "cli/command.h"
#include "cli/run_options.h"
#include "cli/scratch_directory.h"
#include "cli/terminal.h"
#include "driver/build/toolchain.h"
#include "driver/replayer.h"
#include "driver/trace_builder.h"
#include "report/text/phrases.h"
#include "report/text/story.h"
#include "store/store.h"
#include "trace/words.h"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kSession[] = "session.json";    // what gdb is told of the run
constexpr char kStopBefore[] = "stop-before";  // and what it tells the next execution
constexpr char kOutput[] = "output";
constexpr char kError[] = "error";

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw environment_error(fmt::format("cannot write {}", path.string()));
}

std::string line_of(const trace::Trace& trace, trace::SiteIndex site) {
  const trace::Frame* const frame = trace::source_frame(trace, site);
  return frame == nullptr ? "" : fmt::format("{}:{}", trace::base_name(frame->file), frame->line);
}

/// The choices that were not of a thread (which waiter wakes, which store becomes visible): for
/// the number of an event what was taken, and of how many.
nlohmann::json values_of(const trace::Trace& trace, const trace::Schedule& schedule) {
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> by_ordinal;
  std::vector<std::uint64_t> done(trace.threads.size());
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const trace::ThreadId thread = trace.events[i].thread;
    by_ordinal[{trace.threads.at(thread).path, ++done[thread]}] = i;
  }
  nlohmann::json values = nlohmann::json::object();
  for (const trace::Decision& decision : schedule.decisions) {
    const auto event = by_ordinal.find({decision.thread, decision.ordinal});
    if (decision.kind != abi::DecisionKind::Value || event == by_ordinal.end()) continue;
    values[std::to_string(event->second)] = {decision.value, decision.bound};
  }
  return values;
}

/// The run as cli/gdb/heddle_gdb.py reads it.
nlohmann::json session_of(const store::RunId& run, const trace::Trace& trace,
                          const trace::Schedule& schedule, const fs::path& executable) {
  nlohmann::json events = nlohmann::json::array();
  report::Phrases phrases(trace, {});
  for (const trace::Event& event : trace.events) {
    events.push_back({event.thread, phrases.tell(event), line_of(trace, event.site)});
  }
  nlohmann::json threads = nlohmann::json::array();
  for (const trace::Thread& thread : trace.threads) threads.push_back(thread.path);
  report::StoryOptions options;
  options.events = trace.events.size();
  return {{"run", run},
          {"executable", executable},
          {"threads", threads},
          {"events", events},
          {"values", values_of(trace, schedule)},
          {"outcome", abi::name_of(trace.outcome.kind)},
          {"lanes", report::story(trace, options)}};
}

/// In the shell's quotes: gdb has a shell start the program.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result + "'";
}

int run_gdb(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    setenv("SHELL", "/bin/sh", 1);  // what others do when they start could be seen by the program
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  if (child < 0) throw environment_error(fmt::format("cannot start gdb: {}", strerror(errno)));
  // Ctrl-C is for gdb.
  void (*const before)(int) = signal(SIGINT, SIG_IGN);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  signal(SIGINT, before);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct DebuggedFlags {
  fs::path session;
  std::string run;
  std::vector<std::string> command;  // gdb's idea of it; the run's own is used
};

/// Becomes the program.
ExitCode become(const DebuggedFlags& flags) {
  const store::Store store = store::Store::open_existing();
  const driver::Inputs inputs = from_stored(store.load_inputs(flags.run));
  const trace::Schedule schedule = store.load_schedule(flags.run);
  const driver::Program program = driver::Program::open(
      program_of(inputs), [](std::string_view) {}, driver::variant_for(schedule));
  driver::DebuggedExecution execution;
  execution.image = program.image();
  execution.inputs = inputs;
  execution.options = driver::replay_options(store.load_trace(flags.run), schedule);
  std::strcpy(execution.options.carrier, "kernel");
  execution.plan = driver::make_plan(program, schedule);
  std::ifstream(flags.session / kStopBefore) >> execution.stop_before;
  execution.output = flags.session / kOutput;
  execution.error = flags.session / kError;
  driver::become_debugged(execution);
}

}  // namespace

ExitCode debug_in_gdb(const std::string& run, const std::vector<std::string>& gdb_arguments) {
  const store::Store store = store::Store::open_existing();
  const store::RunSummary summary = store.find(run);
  const driver::Inputs inputs = from_stored(store.load_inputs(summary.id));
  const trace::Schedule schedule = store.load_schedule(summary.id);
  ProgressLine progress(false);
  const driver::Program program = driver::Program::open(
      program_of(inputs), [&](std::string_view text) { progress.say(text); },
      driver::variant_for(schedule));
  driver::make_plan(program, schedule);  // refuses what cannot be followed
  progress.clear();
  if (program.build_id() != summary.build_id) {
    fmt::print(stderr,
               "heddle: {} was built again since {} was recorded; its schedule is followed as far "
               "as the places it names are still there\n",
               program.name(), summary.id);
  }

  const ScratchDirectory session("gdb");
  write_file(
      session.path() / kSession,
      session_of(summary.id, store.load_trace(summary.id), schedule, program.executable()).dump());
  const fs::path heddle = fs::read_symlink("/proc/self/exe");
  const std::string wrapper = fmt::format("{} debugged {} {} --", quoted(heddle.string()),
                                          quoted(session.path().string()), summary.id);
  std::vector<std::string> arguments = {
      "gdb",
      "-q",
      "-iex",
      "set python print-stack message",
      "-iex",
      fmt::format("python HEDDLE_SESSION = {}", nlohmann::json(session.path().string()).dump()),
      "-iex",
      "set confirm off",
      "-iex",
      "set breakpoint pending on",
      "-iex",
      "set print thread-events off",
      "-ex",
      fmt::format("set exec-wrapper {}", wrapper),
      "-ex",
      fmt::format("source {}", build::own_library("heddle_gdb.py").string()),
      "-ex",
      "heddle start"};
  arguments.insert(arguments.end(), gdb_arguments.begin(), gdb_arguments.end());
  arguments.push_back(program.executable().string());
  const int status = run_gdb(std::move(arguments));
  if (status == 127) {
    throw environment_error("gdb is not installed; run scripts/setup, or install the package gdb");
  }
  return status == 0 ? ExitCode::Done : ExitCode::ProgramFailed;
}

/// Not for people: what gdb starts.
void add_debugged_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<DebuggedFlags>();
  CLI::App* const command = app.add_subcommand("debugged", "Become the program of a run");
  command->group("");
  command->add_option("session", flags->session)->required();
  command->add_option("run", flags->run)->required();
  command->add_option("command", flags->command);
  command->callback(
      [flags, &invocation] { invocation.chosen = [flags] { return become(*flags); }; });
}

}  // namespace heddle::cli
