// SPDX-License-Identifier: Apache-2.0
//
// Breakpoints as a patch to the program's source, with heddle/breakpoint.h or its C form.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trace/pins.h"

namespace heddle::report {

/// The lines of a source file; empty if it cannot be read.
using SourceReader = std::function<std::vector<std::string>(const std::string& file)>;

/// A unified diff, for `patch -p0`. Statements go before whole statements: where a line is only a
/// part of one (a condition of a loop), the breakpoint is before all of it, and so less precise
/// than the woven one. Which thread is meant is left out. Empty if a file cannot be read, or if a
/// breakpoint is inside a wait.
std::string pin_patch(const trace::Pins& pins, const SourceReader& read);

}  // namespace heddle::report
