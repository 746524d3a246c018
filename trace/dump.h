// SPDX-License-Identifier: Apache-2.0
//
// A trace as plain text, one event a line: for `heddle show --events`, diffs and golden tests. Not
// read back by anything.
#pragma once

#include <string>

#include "trace/trace.h"

namespace heddle::trace {

std::string dump(const Trace& trace);

}  // namespace heddle::trace
