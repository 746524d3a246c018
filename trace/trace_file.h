// SPDX-License-Identifier: Apache-2.0
//
// Traces to files and back; FORMAT.md specifies the bytes. The same trace always gives the same
// bytes (of one zstd version).
#pragma once

#include <filesystem>
#include <ostream>
#include <string_view>

#include "trace/trace.h"

namespace heddle::trace {

/// A trace with complete == false is written without a footer. Throws a defect when an index of
/// `trace` points nowhere.
void write_trace(const Trace& trace, std::ostream& out);
/// Throws environment_error when the file cannot be written.
void write_trace(const Trace& trace, const std::filesystem::path& path);

/// A file that was cut off is no error: everything in its whole chunks is returned, with complete
/// == false. Foreign, newer and damaged files are a user_error that names `name`.
Trace parse_trace(std::string_view bytes, std::string_view name);
Trace read_trace(const std::filesystem::path& path);

}  // namespace heddle::trace
