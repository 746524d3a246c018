// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <fmt/format.h>

namespace heddle::cli {

CLI::App* add_command(CLI::App& app, Invocation& invocation, const std::string& name,
                      const std::string& description, const std::string& example) {
  CLI::App* const command = app.add_subcommand(name, description);
  command->footer("Example:\n  " + example);
  command->add_flag("--json", invocation.json, "print one JSON object instead of text");
  return command;
}

nlohmann::json json_result(const std::string& command, const std::string& outcome,
                           const std::string& run, double seconds) {
  nlohmann::json object = {{"command", command}, {"outcome", outcome}, {"seconds", seconds}};
  object["run"] = run.empty() ? nlohmann::json() : nlohmann::json(run);
  return object;
}

void print_json(const nlohmann::json& object) {
  // Whatever the program printed or was called may be bytes that are no UTF-8.
  fmt::print("{}\n", object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace heddle::cli
