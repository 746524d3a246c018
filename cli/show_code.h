// SPDX-License-Identifier: Apache-2.0
//
// `heddle show --sites PROG` for addresses and stacks: of the program's file, of a process that
// runs it, of a core it left.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace heddle::cli {

/// Where addresses are from; both empty: from the program's file.
struct CodeSource {
  std::string core;
  std::string process;
};

/// Which instructions and sites these addresses are of. Of a program that has no sites in its own
/// file, those of its full variant are shown.
ExitCode show_addresses(const std::string& program, const std::vector<std::string>& addresses,
                        const CodeSource& source, bool json);

/// The stack of every thread.
ExitCode show_stacks(const std::string& program, const CodeSource& source, bool json);

}  // namespace heddle::cli
