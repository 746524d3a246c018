// SPDX-License-Identifier: Apache-2.0
#include "analysis/pin/race_report.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <regex>
#include <sstream>

namespace heddle::analysis {
namespace {

/// "    #0 add prog.c:9:7 (prog+0x1234)", "    #1 add /src/prog.c:9 (prog+0x1234)".
const std::regex kSanitizerFrame(R"(^\s+#\d+\s+(.+?)\s+(\S+?):(\d+)(?::\d+)?(?:\s.*)?$)");
/// "==12==    at 0x1234: add (prog.c:9)", "==12==    by 0x1234: main (prog.c:15)".
const std::regex kHelgrindFrame(
    R"(^==\d+==\s+(?:at|by) 0x[0-9A-Fa-f]+: (.+) \(([^():]+):(\d+)\)$)");

std::optional<trace::PinPlace> frame_of(const std::string& line) {
  std::smatch match;
  if (!std::regex_match(line, match, kSanitizerFrame) &&
      !std::regex_match(line, match, kHelgrindFrame)) {
    return std::nullopt;
  }
  trace::PinPlace place;
  place.file = match[2];
  const std::string number = match[3];
  std::from_chars(number.data(), number.data() + number.size(), place.line);
  return place;
}

enum class Part { Elsewhere, One, Other };

/// Which stack begins with this line; nothing if none begins or ends.
std::optional<Part> part_at(const std::string& line) {
  const auto says = [&](const char* words) { return line.find(words) != std::string::npos; };
  if (says("WARNING: ThreadSanitizer:")) return Part::Elsewhere;
  if (says("revious ") && (says(" of size ") || says("rite") || says("ead")) &&
      (says(" by thread ") || says(" by main thread") || says("This conflicts with"))) {
    return Part::Other;
  }
  if (says("This conflicts with a previous")) return Part::Other;
  if (says(" of size ") && (says(" by thread ") || says(" by main thread"))) return Part::One;
  // Where memory comes from, who created the thread, and the like.
  if (says("Location is") || says("created by") || says("created at") || says("Mutex M") ||
      says("SUMMARY:") || says("was created") || says("Address 0x") || says("-----")) {
    return Part::Elsewhere;
  }
  return std::nullopt;
}

}  // namespace

std::vector<ReportedRace> parse_race_report(const std::string& text) {
  std::vector<ReportedRace> races;
  ReportedRace race;
  Part part = Part::Elsewhere;
  const auto finish = [&] {
    const auto known = std::ranges::find_if(races, [&](const ReportedRace& other) {
      return other.one == race.one && other.other == race.other;
    });
    if (!race.one.empty() && !race.other.empty() && known == races.end()) races.push_back(race);
    race = {};
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (const std::optional<Part> begins = part_at(line)) {
      if (*begins == Part::One) finish();
      part = *begins;
      continue;
    }
    const std::optional<trace::PinPlace> frame = frame_of(line);
    if (!frame) continue;
    if (part == Part::One) race.one.push_back(*frame);
    if (part == Part::Other) race.other.push_back(*frame);
  }
  finish();
  return races;
}

}  // namespace heddle::analysis
