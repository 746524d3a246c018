// SPDX-License-Identifier: Apache-2.0
#include "report/pin_json.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "abi/names.h"
#include "base/error.h"
#include "report/json.h"

namespace heddle::report {
namespace {

using nlohmann::json;

json to_json(const trace::PinPlace& place) {
  json object = json::object();
  if (!place.file.empty()) {
    object["file"] = text_json(place.file);
    object["line"] = place.line;
  }
  if (!place.function.empty()) object["function"] = text_json(place.function);
  if (!place.site.empty()) object["site"] = text_json(place.site);
  if (!place.text.empty()) object["text"] = text_json(place.text);
  return object;
}

json to_json(const trace::PinSide& side) {
  json object = {{"at", to_json(side.at)}};
  object["side"] = side.side == trace::kEitherSide ? json("either") : json(side.side);
  if (side.moment == trace::PinMoment::Behind) object["behind"] = true;
  if (side.moment == trace::PinMoment::Woken) object["woken"] = true;
  if (side.until) object[side.until_before ? "until_before" : "until"] = to_json(*side.until);
  if (side.visit != 0) object["visit"] = side.visit;
  if (side.ignore_first != 0) object["ignore_first"] = side.ignore_first;
  if (side.bound != 0) object["bound"] = side.bound;
  if (!side.thread.empty()) object["thread"] = side.thread;
  if (!side.when.empty()) object["when"] = side.when;
  if (side.within) object["within"] = to_json(*side.within);
  if (side.holding) object["holding"] = to_json(*side.holding);
  return object;
}

/// Reads members of one object, remembering where it is for messages.
class Reader {
 public:
  Reader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) throw user_error(fmt::format("{}: an object is expected", where_));
  }

  template <class T>
  T get(const char* name, T otherwise) const {
    const auto found = object_.find(name);
    if (found == object_.end()) return otherwise;
    try {
      if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
        if (!found->is_number_unsigned()) throw user_error("");
      }
      return found->template get<T>();
    } catch (const std::exception&) {
      throw user_error(
          fmt::format("{}: \"{}\" is not what it should be: {}", where_, name, found->dump()));
    }
  }
  const json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  const json& array(const char* name) const {
    const json* const found = find(name);
    if (found == nullptr || !found->is_array()) {
      throw user_error(fmt::format("{}: a list \"{}\" is missing", where_, name));
    }
    return *found;
  }
  void only(std::initializer_list<const char*> known) const {
    for (const auto& [name, value] : object_.items()) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        throw user_error(fmt::format("{}: \"{}\" is not known here; there are: {}", where_, name,
                                     fmt::join(known, ", ")));
      }
    }
  }
  const std::string& where() const { return where_; }

 private:
  const json& object_;
  std::string where_;
};

trace::PinPlace place_of(const json& object, const std::string& where) {
  const Reader reader(object, where);
  reader.only({"file", "line", "function", "site", "text"});
  return {reader.get<std::string>("site", ""), reader.get<std::string>("file", ""),
          reader.get<std::uint32_t>("line", 0), reader.get<std::string>("function", ""),
          reader.get<std::string>("text", "")};
}

trace::PinSide side_of(const json& object, const std::string& where, std::uint32_t sides) {
  const Reader reader(object, where);
  reader.only({"side", "at", "behind", "woken", "until", "until_before", "visit", "ignore_first",
               "bound", "thread", "when", "within", "holding"});
  trace::PinSide side;
  const json* const number = reader.find("side");
  if (number != nullptr && *number == "either") {
    side.side = trace::kEitherSide;
  } else {
    side.side = reader.get<std::uint32_t>("side", 0);
    if (side.side >= sides) {
      throw user_error(fmt::format("{}: side {} of a breakpoint with {} sides (they count from 0)",
                                   where, side.side, sides));
    }
  }
  const json* const at = reader.find("at");
  if (at == nullptr) throw user_error(fmt::format("{}: \"at\" is missing", where));
  side.at = place_of(*at, where + ", at");
  const bool is_behind = reader.get<bool>("behind", false);
  const bool is_woken = reader.get<bool>("woken", false);
  if (is_behind && is_woken) {
    throw user_error(fmt::format("{}: \"behind\" or \"woken\", not both", where));
  }
  if (is_behind) side.moment = trace::PinMoment::Behind;
  if (is_woken) side.moment = trace::PinMoment::Woken;
  if (const json* const until = reader.find("until")) {
    side.until = place_of(*until, where + ", until");
  }
  if (const json* const until = reader.find("until_before")) {
    if (side.until) {
      throw user_error(fmt::format("{}: \"until\" or \"until_before\", not both", where));
    }
    side.until = place_of(*until, where + ", until_before");
    side.until_before = true;
  }
  side.visit = reader.get<std::uint32_t>("visit", 0);
  side.ignore_first = reader.get<std::uint32_t>("ignore_first", 0);
  side.bound = reader.get<std::uint32_t>("bound", 0);
  side.thread = reader.get<std::string>("thread", "");
  if (side.thread.size() > 60 ||
      side.thread.find_first_not_of("t.0123456789") != std::string::npos) {
    throw user_error(
        fmt::format("{}: \"thread\" is a birth like t0.2, not {}", where, side.thread));
  }
  const auto optional_place = [&](const char* name) -> std::optional<trace::PinPlace> {
    const json* const place = reader.find(name);
    if (place == nullptr) return std::nullopt;
    return place_of(*place, fmt::format("{}, {}", where, name));
  };
  side.within = optional_place("within");
  side.holding = optional_place("holding");
  side.when = reader.get<std::string>("when", "");
  if (side.when.find('\n') != std::string::npos) {
    throw user_error(fmt::format("{}: a condition is one line", where));
  }
  return side;
}

trace::PinBreakpoint breakpoint_of(const json& object, const std::string& where) {
  const Reader reader(object, where);
  reader.only({"name", "sides", "pause_ms", "order_ms", "bound", "give_up", "at"});
  trace::PinBreakpoint breakpoint;
  breakpoint.name = reader.get<std::string>("name", "");
  if (breakpoint.name.empty() || breakpoint.name.size() > 60 ||
      breakpoint.name.find('\n') != std::string::npos) {
    throw user_error(fmt::format("{}: \"name\" must be one line of 1 to 60 characters", where));
  }
  breakpoint.sides = reader.get<std::uint32_t>("sides", 2);
  if (breakpoint.sides < 2 || breakpoint.sides > 8) {
    throw user_error(fmt::format("{}: a breakpoint has 2 to 8 sides", where));
  }
  breakpoint.pause_ms = reader.get<double>("pause_ms", breakpoint.pause_ms);
  breakpoint.order_ms = reader.get<double>("order_ms", breakpoint.order_ms);
  breakpoint.bound = reader.get<std::uint32_t>("bound", breakpoint.bound);
  breakpoint.give_up = reader.get<std::uint32_t>("give_up", breakpoint.give_up);
  for (const json& side : reader.array("at")) {
    breakpoint.at.push_back(side_of(
        side, fmt::format("{} ({}), side {}", where, breakpoint.name, breakpoint.at.size() + 1),
        breakpoint.sides));
  }
  return breakpoint;
}

std::optional<abi::FailureKind> failure_of_name(std::string_view name) {
#define HEDDLE_FAILURE(id, Name, text, sentence) \
  if (name == text) return abi::FailureKind::Name;
#include "abi/failures.def"
  return std::nullopt;
}

trace::PinnedFailure failure_of(const json& object, const std::string& where) {
  const Reader reader(object, where);
  reader.only({"kind", "exit_code", "signal", "message", "fails_if"});
  trace::PinnedFailure failure;
  const std::string kind = reader.get<std::string>("kind", "");
  const std::optional<abi::FailureKind> known = failure_of_name(kind);
  if (!known) throw user_error(fmt::format("{}: there is no failure '{}'", where, kind));
  failure.kind = *known;
  failure.exit_code = reader.get<int>("exit_code", 0);
  failure.signal = reader.get<int>("signal", 0);
  failure.message = reader.get<std::string>("message", "");
  failure.fails_if = reader.get<std::string>("fails_if", "");
  return failure;
}

/// The chance p at which `count` or more of `runs` has probability `tail`.
double bound(std::uint32_t count, std::uint32_t runs, double tail, bool lower) {
  const auto at_least = [&](double p, std::uint32_t from) {
    double sum = 0;
    for (std::uint32_t k = from; k <= runs; ++k) {
      sum += std::exp(std::lgamma(runs + 1.0) - std::lgamma(k + 1.0) - std::lgamma(runs - k + 1.0) +
                      k * std::log(p) + (runs - k) * std::log1p(-p));
    }
    return sum;
  };
  double low = 1e-12;
  double high = 1 - 1e-12;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    // Lower: P(X >= count) = tail; upper: P(X <= count) = tail.
    const double value =
        lower ? at_least(middle, count) - tail : tail - (1 - at_least(middle, count + 1));
    (value > 0 ? high : low) = middle;
  }
  return (low + high) / 2;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

json to_json(const trace::PinBreakpoint& breakpoint) {
  json object = {{"name", breakpoint.name},         {"sides", breakpoint.sides},
                 {"pause_ms", breakpoint.pause_ms}, {"order_ms", breakpoint.order_ms},
                 {"bound", breakpoint.bound},       {"give_up", breakpoint.give_up}};
  object["at"] = json::array();
  for (const trace::PinSide& side : breakpoint.at) object["at"].push_back(to_json(side));
  return object;
}

json to_json(const trace::PinFile& file) {
  json object = {{"heddle_breakpoints", kPinFileVersion},
                 {"program", text_json(file.program)},
                 {"arguments", json::array()},
                 {"failure", {{"kind", abi::name_of(file.failure.kind)}}},
                 {"breakpoints", json::array()}};
  for (const std::string& argument : file.arguments) {
    object["arguments"].push_back(text_json(argument));
  }
  json& failure = object["failure"];
  if (file.failure.exit_code != 0) failure["exit_code"] = file.failure.exit_code;
  if (file.failure.signal != 0) failure["signal"] = file.failure.signal;
  if (!file.failure.message.empty()) failure["message"] = text_json(file.failure.message);
  if (!file.failure.fails_if.empty()) failure["fails_if"] = text_json(file.failure.fails_if);
  if (!file.failed_at.site.empty()) object["failed_at"] = to_json(file.failed_at);
  for (const trace::PinBreakpoint& breakpoint : file.pins) {
    object["breakpoints"].push_back(to_json(breakpoint));
  }
  return object;
}

trace::PinFile parse_pin_file(const std::string& text, const std::string& name) {
  json object;
  try {
    object = json::parse(text);
  } catch (const json::parse_error& error) {
    throw user_error(fmt::format("{} is no JSON: {}", name, error.what()));
  }
  const Reader reader(object, name);
  reader.only(
      {"heddle_breakpoints", "program", "arguments", "failure", "failed_at", "breakpoints"});
  const int version = reader.get<int>("heddle_breakpoints", 0);
  if (version != kPinFileVersion) {
    throw user_error(
        fmt::format("{} is no breakpoint file of version {}: \"heddle_breakpoints\" is {}", name,
                    kPinFileVersion, version));
  }
  trace::PinFile file;
  file.program = reader.get<std::string>("program", "");
  file.arguments = reader.get<std::vector<std::string>>("arguments", {});
  if (const json* const failure = reader.find("failure")) {
    file.failure = failure_of(*failure, name + ", failure");
  }
  if (const json* const at = reader.find("failed_at")) {
    file.failed_at = place_of(*at, name + ", failed_at");
  }
  for (const json& breakpoint : reader.array("breakpoints")) {
    file.pins.push_back(
        breakpoint_of(breakpoint, fmt::format("{}, breakpoint {}", name, file.pins.size() + 1)));
  }
  if (file.pins.empty()) throw user_error(fmt::format("{} has no breakpoints", name));
  return file;
}

Share share_of(std::uint32_t count, std::uint32_t runs) {
  if (runs == 0) return {0, 0, 100};
  constexpr double kTail = 0.025;
  return {100.0 * count / runs, count == 0 ? 0 : 100 * bound(count, runs, kTail, true),
          count == runs ? 100 : 100 * bound(count, runs, kTail, false)};
}

json to_json(const analysis::NativeRuns& runs) {
  const Share failures = share_of(runs.failures, runs.runs);
  const Share hits = share_of(runs.hits, runs.runs);
  json object = {{"runs", runs.runs},
                 {"failures", runs.failures},
                 {"failure_percent", failures.percent},
                 {"failure_interval", {failures.low, failures.high}},
                 {"hit_percent", hits.percent},
                 {"hit_interval", {hits.low, hits.high}},
                 {"reached", runs.reached},
                 {"other_failures", runs.other_failures}};
  object["mean_seconds_to_failure"] =
      runs.seconds_to_failure.empty() ? json() : json(mean(runs.seconds_to_failure));
  object["mean_seconds_of_others"] =
      runs.seconds_of_others.empty() ? json() : json(mean(runs.seconds_of_others));
  return object;
}

}  // namespace heddle::report
