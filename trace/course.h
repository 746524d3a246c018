// SPDX-License-Identifier: Apache-2.0
//
// Whether two traces took the same course: the same threads, each event at the same place on the
// same memory, and the same end. Unlike first_difference (compare.h) it says so of two variants of
// a program, too, whose frames differ in size: where on a stack something is, and values, which may
// be addresses there, are not compared.
#pragma once

#include <optional>
#include <string>

#include "trace/trace.h"

namespace heddle::trace {

/// In words, where they part; nothing: they do not.
std::optional<std::string> other_course(const Trace& expected, const Trace& actual);

}  // namespace heddle::trace
