// SPDX-License-Identifier: Apache-2.0
#include "cli/pin_output.h"

#include <fmt/format.h>

#include <cctype>
#include <fstream>

#include "base/error.h"
#include "report/pin_json.h"
#include "report/pin_patch.h"
#include "report/pin_test_text.h"
#include "report/text/source_lines.h"
#include "trace/file.h"
#include "trace/words.h"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

/// A word that CMake and C++ both take for a name.
std::string test_name(const trace::PinFile& file) {
  std::string name = fs::path(file.program).filename().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "p" + name : name;
}

std::string place_text(const trace::PinPlace& place) {
  std::string text = place.file.empty()
                         ? place.function
                         : fmt::format("{}:{}", trace::base_name(place.file), place.line);
  if (!place.file.empty() && !place.function.empty()) text += fmt::format(" ({})", place.function);
  if (!place.text.empty()) text += "  " + place.text;
  return text;
}

const char* moment_text(trace::PinMoment moment) {
  switch (moment) {
    case trace::PinMoment::Behind: return "behind";
    case trace::PinMoment::Woken: return "woken in";
    case trace::PinMoment::Before: break;
  }
  return "before";
}

}  // namespace

void quote_sources(trace::PinFile& file) {
  report::SourceLines source;
  const auto quote = [&](trace::PinPlace& place) {
    if (!place.file.empty()) place.text = source(place.file, place.line);
  };
  for (trace::PinBreakpoint& breakpoint : file.pins) {
    for (trace::PinSide& side : breakpoint.at) {
      quote(side.at);
      if (side.until) quote(*side.until);
      if (side.holding) quote(*side.holding);
    }
  }
}

PinOutput write_pin_output(const trace::PinFile& file, const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    throw environment_error(fmt::format("cannot make {}: {}", directory.string(), error.message()));
  }
  const std::string name = test_name(file);
  PinOutput output{directory / (name + ".breakpoints.json"), directory / (name + ".patch"),
                   directory / (name + "_pin.cmake"), directory / (name + "_pin_test.cpp")};
  trace::write_file(output.breakpoints, report::to_json(file).dump(2) + "\n");
  const std::string patch = report::pin_patch(file.pins, lines_of);
  if (patch.empty()) {
    output.patch.clear();
  } else {
    trace::write_file(output.patch, patch);
  }
  trace::write_file(output.ctest,
                    report::ctest_text(file, name, output.breakpoints.filename().string()));
  trace::write_file(output.googletest, report::googletest_text(file, name));
  return output;
}

std::string breakpoint_text(const trace::PinBreakpoint& breakpoint) {
  std::string text = fmt::format("{}: {} sides, waits up to {:.0f} ms\n", breakpoint.name,
                                 breakpoint.sides, breakpoint.pause_ms);
  for (const trace::PinSide& side : breakpoint.at) {
    text += fmt::format("  {:<7} {} {}\n",
                        side.side == trace::kEitherSide ? "either"
                        : side.side == 0                ? "first"
                        : side.side == 1                ? "second"
                                                        : fmt::format("side {}", side.side),
                        moment_text(side.moment), place_text(side.at));
    if (side.until && !(*side.until == side.at)) {
      text += fmt::format("          to {}\n", place_text(*side.until));
    }
    if (!side.thread.empty()) text += fmt::format("          of thread {}\n", side.thread);
    if (side.visit != 0) text += fmt::format("          at its thread's visit {}\n", side.visit);
    if (side.within) text += fmt::format("          in {}\n", place_text(*side.within));
    if (side.holding) {
      text += fmt::format("          having taken the lock at {}\n", place_text(*side.holding));
    }
    if (!side.when.empty()) text += fmt::format("          when {}\n", side.when);
  }
  return text;
}

std::string share_text(std::uint32_t count, std::uint32_t runs) {
  const report::Share share = report::share_of(count, runs);
  return fmt::format("{} of {} runs ({:.1f} to {:.1f} %)", count, runs, share.low, share.high);
}

}  // namespace heddle::cli
