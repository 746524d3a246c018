// SPDX-License-Identifier: Apache-2.0
//
// What `heddle pin` leaves behind: the breakpoint file, the patch, and the regression tests.
#pragma once

#include <filesystem>
#include <string>

#include "analysis/pin/pin.h"
#include "trace/pins.h"

namespace heddle::cli {

struct PinOutput {
  std::filesystem::path breakpoints;
  std::filesystem::path patch;  // empty: the sources are not there
  std::filesystem::path ctest;
  std::filesystem::path googletest;
};

/// Writes them all into `directory`, which is made if it is not there.
PinOutput write_pin_output(const trace::PinFile& file, const std::filesystem::path& directory);

/// Adds the text of each place's line, where the source is at hand.
void quote_sources(trace::PinFile& file);

/// One breakpoint in words, a line for each side.
std::string breakpoint_text(const trace::PinBreakpoint& breakpoint);

/// "98 of 100 runs (93.0-99.8 %)".
std::string share_text(std::uint32_t count, std::uint32_t runs);

}  // namespace heddle::cli
