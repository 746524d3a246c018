// SPDX-License-Identifier: Apache-2.0
//
// Schedules to text and back; FORMAT.md specifies the text. parse_schedule(to_text(x)) == x for
// every schedule whose decisions use only the fields of their kind.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "trace/schedule.h"

namespace heddle::trace {

/// The newest version. A schedule is written in the oldest one that can say it.
inline constexpr unsigned kScheduleVersion = 4;

/// Throws a defect when a thread is not named by birth or a value is not below its bound.
std::string to_text(const Schedule& schedule);

/// One decision without its comment and newline, for messages that quote it.
std::string to_text(const Decision& decision);

/// Whatever is wrong with `text` is one user_error: file, line, what was expected, what to do.
Schedule parse_schedule(std::string_view text, std::string_view file_name);
Schedule read_schedule(const std::filesystem::path& path);

}  // namespace heddle::trace
