// SPDX-License-Identifier: Apache-2.0
//
// ls and rm: what is in the store.
#include <fmt/format.h>

#include <memory>

#include "abi/names.h"
#include "cli/command.h"
#include "cli/present.h"
#include "store/store.h"

namespace heddle::cli {
namespace {

nlohmann::json to_json(const store::RunSummary& run) {
  return {{"run", run.id},
          {"created", run.created},
          {"made_by", run.command},
          {"program", run.program},
          {"build_id", run.build_id},
          {"outcome", abi::name_of(run.outcome)},
          {"signature", run.signature},
          {"events", run.events},
          {"threads", run.threads},
          {"switches", run.switches},
          {"preemptions", run.preemptions},
          {"seconds", run.seconds}};
}

ExitCode list(bool json) {
  const store::Store store = store::Store::open_existing();
  const std::vector<store::RunSummary> runs = store.list();
  if (json) {
    nlohmann::json object = json_result("ls", "done", runs.empty() ? "" : runs.back().id, 0);
    object["runs"] = nlohmann::json::array();
    for (const store::RunSummary& run : runs) object["runs"].push_back(to_json(run));
    print_json(object);
    return ExitCode::Done;
  }
  if (runs.empty()) fmt::print("No runs yet. Make one with: heddle explore -- ./prog\n");
  std::size_t program_width = 7;
  for (const store::RunSummary& run : runs) {
    program_width = std::max(program_width, std::min<std::size_t>(run.program.size(), 30));
  }
  for (const store::RunSummary& run : runs) {
    fmt::print("{:<5} {}  {:<7} {:<{}}  {:>6} events  {}\n", run.id, run.created, run.command,
               run.program, program_width, run.events,
               run.signature.empty() ? "ended normally" : run.signature);
  }
  return ExitCode::Done;
}

ExitCode remove(const std::vector<std::string>& names, bool json) {
  store::Store store = store::Store::open_existing();
  nlohmann::json removed = nlohmann::json::array();
  for (const std::string& name : names) {
    const store::RunId id = store.find(name).id;
    store.remove(id);
    removed.push_back(id);
    if (!json) fmt::print("Removed {}\n", id);
  }
  if (json) {
    nlohmann::json object = json_result("rm", "done", "", 0);
    object["removed"] = removed;
    print_json(object);
  }
  return ExitCode::Done;
}

}  // namespace

void add_list_command(CLI::App& app, Invocation& invocation) {
  CLI::App* const command =
      add_command(app, invocation, "ls", "List the runs that were kept", "heddle ls --json");
  command->callback(
      [&invocation] { invocation.chosen = [&invocation] { return list(invocation.json); }; });
}

void add_remove_command(CLI::App& app, Invocation& invocation) {
  const auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* const command = add_command(app, invocation, "rm", "Remove kept runs", "heddle rm r3");
  command->add_option("runs", *names, "which runs: ids, or latest")->required();
  command->callback([names, &invocation] {
    invocation.chosen = [names, &invocation] { return remove(*names, invocation.json); };
  });
}

}  // namespace heddle::cli
