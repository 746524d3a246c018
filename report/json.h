// SPDX-License-Identifier: Apache-2.0
//
// Parts of traces as JSON, with the field names that every command shares. Texts are always valid
// UTF-8: whatever is not becomes U+FFFD.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "trace/compare.h"
#include "trace/signature.h"
#include "trace/trace.h"

namespace heddle::report {

/// A text that any JSON writer accepts.
nlohmann::json text_json(std::string_view text);

/// {kind, file, line, function, text, places}; file, line and function are null when unknown, of a
/// deadlock the first of `places`.
nlohmann::json to_json(const trace::Signature& signature);

/// {kind, message, exit_code, signal, thread, signature, waits}.
nlohmann::json outcome_json(const trace::Trace& trace);

/// {event, field, expected, actual}; event is null when all events are equal.
nlohmann::json to_json(const trace::Difference& difference);

}  // namespace heddle::report
