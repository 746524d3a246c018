// SPDX-License-Identifier: Apache-2.0
//
// What every command of `heddle` shares. A command declares its flags on a CLI::App and leaves in
// `chosen` what to do; main.cpp does it. One file a command.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"

namespace heddle::cli {

struct Invocation {
  std::function<ExitCode()> chosen;
  bool json = false;
};

void add_conflicts_command(CLI::App& app, Invocation& invocation);
void add_debugged_command(CLI::App& app, Invocation& invocation);
void add_explore_command(CLI::App& app, Invocation& invocation);
void add_list_command(CLI::App& app, Invocation& invocation);
void add_locate_command(CLI::App& app, Invocation& invocation);
void add_pin_command(CLI::App& app, Invocation& invocation);
void add_pack_command(CLI::App& app, Invocation& invocation);
void add_record_command(CLI::App& app, Invocation& invocation);
void add_reduce_command(CLI::App& app, Invocation& invocation);
void add_remove_command(CLI::App& app, Invocation& invocation);
void add_replay_command(CLI::App& app, Invocation& invocation);
void add_run_command(CLI::App& app, Invocation& invocation);
void add_show_command(CLI::App& app, Invocation& invocation);
void add_slice_command(CLI::App& app, Invocation& invocation);

/// A subcommand with an example in its help, and --json.
CLI::App* add_command(CLI::App& app, Invocation& invocation, const std::string& name,
                      const std::string& description, const std::string& example);

/// One object on standard output. `command`, `outcome`, `run` and `seconds` are always there.
nlohmann::json json_result(const std::string& command, const std::string& outcome,
                           const std::string& run, double seconds);
void print_json(const nlohmann::json& object);

}  // namespace heddle::cli
