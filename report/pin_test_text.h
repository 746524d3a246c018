// SPDX-License-Identifier: Apache-2.0
//
// Regression tests for a pinned failure, ready to be put into a project.
#pragma once

#include <string>

#include "trace/pins.h"

namespace heddle::report {

/// For CTest, with `heddle pin --check`: fails on a program that still has the bug, and on one that
/// the breakpoints do not apply to any more. `name` is a word; `pin_file` beside the CMake file.
std::string ctest_text(const trace::PinFile& file, const std::string& name,
                       const std::string& pin_file);

/// For GoogleTest, without Heddle: runs the patched program, whose path is in PINNED_PROGRAM.
std::string googletest_text(const trace::PinFile& file, const std::string& name);

}  // namespace heddle::report
