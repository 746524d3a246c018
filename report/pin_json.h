// SPDX-License-Identifier: Apache-2.0
//
// Breakpoint files (docs/pin.md) and what `heddle pin` found out, as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/pin/pin.h"
#include "trace/pins.h"

namespace heddle::report {

inline constexpr int kPinFileVersion = 1;

nlohmann::json to_json(const trace::PinFile& file);
nlohmann::json to_json(const trace::PinBreakpoint& breakpoint);

/// `name` is what messages call the file. Throws a user error that names the member in question.
trace::PinFile parse_pin_file(const std::string& text, const std::string& name);

/// A share of runs in percent, with its 95 % interval (Clopper-Pearson).
struct Share {
  double percent = 0;
  double low = 0;
  double high = 0;
};
Share share_of(std::uint32_t count, std::uint32_t runs);

nlohmann::json to_json(const analysis::NativeRuns& runs);

}  // namespace heddle::report
