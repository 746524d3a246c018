// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <exception>
#include <filesystem>

#include "cli/command.h"

namespace {

using heddle::ExitCode;

/// One clear message on standard error; as JSON on standard output when that was asked for.
int report(const heddle::cli::Invocation& invocation, ExitCode code, const std::string& message) {
  if (invocation.json) {
    heddle::cli::print_json({{"error", message}, {"exit_code", static_cast<int>(code)}});
  }
  fmt::print(stderr, "heddle: {}\n", message);
  if (code == ExitCode::Defect) {
    fmt::print(stderr,
               "This is a defect of Heddle: please report it with the command you typed.\n");
  }
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Turns one rare failure of a multi-threaded program into a deterministic, explained test."};
  app.name("heddle");
  app.set_version_flag("--version", "heddle " HEDDLE_VERSION);
  app.require_subcommand(1);
  app.footer("Build your program with heddle-cc or heddle-c++, then: heddle explore -- ./prog");
  heddle::cli::Invocation invocation;
  try {
    heddle::cli::add_explore_command(app, invocation);
    heddle::cli::add_run_command(app, invocation);
    heddle::cli::add_pack_command(app, invocation);
    heddle::cli::add_record_command(app, invocation);
    heddle::cli::add_replay_command(app, invocation);
    heddle::cli::add_pin_command(app, invocation);
    heddle::cli::add_conflicts_command(app, invocation);
    heddle::cli::add_reduce_command(app, invocation);
    heddle::cli::add_locate_command(app, invocation);
    heddle::cli::add_slice_command(app, invocation);
    heddle::cli::add_list_command(app, invocation);
    heddle::cli::add_show_command(app, invocation);
    heddle::cli::add_remove_command(app, invocation);
    heddle::cli::add_debugged_command(app, invocation);
    app.parse(argc, argv);
    return static_cast<int>(invocation.chosen());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return report(invocation, ExitCode::UserMistake,
                  fmt::format("{}; see: heddle --help", error.what()));
  } catch (const heddle::Error& error) {
    return report(invocation, error.code(), error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return report(invocation, ExitCode::Environment, error.what());
  } catch (const std::exception& error) {
    return report(invocation, ExitCode::Defect, error.what());
  }
}
