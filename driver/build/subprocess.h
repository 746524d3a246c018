// SPDX-License-Identifier: Apache-2.0
//
// Runs a tool and waits for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::build {

struct ToolResult {
  int status;          // exit status; 128 + signal number if a signal ended it
  std::string output;  // standard output and error, if captured
};

/// Starts `command` (a path and its arguments) in `directory` (empty: the current one). Throws
/// heddle::Error if it cannot be started.
ToolResult run_tool(const std::vector<std::string>& command,
                    const std::filesystem::path& directory = {}, bool capture = false);

}  // namespace heddle::build
