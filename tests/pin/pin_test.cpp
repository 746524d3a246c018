// SPDX-License-Identifier: Apache-2.0
//
// Proposals, the choice among them, breakpoint files and patches, without a program.
#include "analysis/pin/pin.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "report/pin_json.h"
#include "report/pin_patch.h"
#include "tests/analysis/small_trace.h"

namespace heddle {
namespace {

using analysis::FoundAccess;
using analysis::PinProposal;

FoundAccess access(const std::string& thread, std::uint32_t line, std::size_t event) {
  FoundAccess access;
  access.thread = thread;
  access.point = {thread, "f+" + std::to_string(line), 1};
  access.frame = {"f", "f.c", line, 1};
  access.event = event;
  return access;
}

analysis::Localisation one_finding(std::vector<std::pair<FoundAccess, FoundAccess>> pairs) {
  analysis::Localisation localisation;
  analysis::Finding finding;
  finding.rank = 1;
  finding.bug_class = analysis::BugClass::AtomicityViolation;
  for (auto& [first, second] : pairs) {
    analysis::FoundPair pair;
    pair.first = first;
    pair.second = second;
    finding.pairs.push_back(pair);
  }
  localisation.findings.push_back(finding);
  return localisation;
}

TEST(Propose, ThereAndBackIsOneBreakpoint) {
  // t0: 1 ... 2, interrupted by 8 and 9 of t0.1.
  const auto proposals = analysis::propose_pins(one_finding(
      {{access("t0", 1, 0), access("t0.1", 8, 1)}, {access("t0.1", 9, 2), access("t0", 2, 3)}}));
  ASSERT_FALSE(proposals.empty());
  ASSERT_EQ(proposals[0].pins.size(), 1u);
  const trace::PinBreakpoint& pin = proposals[0].pins[0];
  ASSERT_EQ(pin.at.size(), 2u);
  EXPECT_EQ(pin.at[0].side, 0u);
  EXPECT_EQ(pin.at[0].at.line, 8u);
  EXPECT_EQ(pin.at[0].until->line, 9u);
  EXPECT_EQ(pin.at[1].at.line, 2u);
}

TEST(Propose, OneInstructionOfTwoThreadsIsEitherSide) {
  auto localisation = one_finding({{access("t0", 1, 0), access("t0.1", 2, 1)}});
  localisation.findings[0].regions.push_back({access("t0", 1, 0), access("t0", 2, 2)});
  const auto proposals = analysis::propose_pins(localisation);
  ASSERT_EQ(proposals[0].pins.size(), 1u);
  ASSERT_EQ(proposals[0].pins[0].at.size(), 1u);
  EXPECT_EQ(proposals[0].pins[0].at[0].side, trace::kEitherSide);
}

TEST(Propose, ACycleMeetsWhereItWaits) {
  auto localisation = one_finding({{access("t0.1", 1, 0), access("t0.2", 4, 9)},
                                   {access("t0.2", 1, 1), access("t0.3", 4, 9)},
                                   {access("t0.3", 1, 2), access("t0.1", 4, 9)}});
  localisation.findings[0].bug_class = analysis::BugClass::Deadlock;
  const auto proposals = analysis::propose_pins(localisation);
  ASSERT_EQ(proposals.size(), 1u);
  const trace::PinBreakpoint& pin = proposals[0].pins[0];
  EXPECT_EQ(pin.sides, 3u);
  ASSERT_EQ(pin.at.size(), 1u);
  EXPECT_EQ(pin.at[0].at.line, 4u);
}

TEST(Propose, ThreeAtOnceAreOneBreakpoint) {
  // Both children are in the middle when main comes and fails.
  analysis::SmallTrace small;
  small.writes(1, "enter", "x").writes(2, "enter", "x").writes(0, "count", "x").fails();
  analysis::Localisation localisation;
  localisation.failed.trace = small.trace();
  for (trace::Site& site : localisation.failed.trace.sites) {
    site.frames = {{"f", "f.c", 1, 1}};
  }
  const auto proposals = analysis::propose_pins(localisation);
  const auto found =
      std::ranges::find(proposals, "schedule, all standing by", &PinProposal::origin);
  ASSERT_NE(found, proposals.end());
  ASSERT_EQ(found->pins.size(), 1u);
  const trace::PinBreakpoint& pin = found->pins[0];
  EXPECT_EQ(pin.sides, 3u);
  ASSERT_EQ(pin.at.size(), 3u);
  EXPECT_EQ(pin.at[0].at.site, "count");
  EXPECT_EQ(pin.at[0].thread, "t0");
  EXPECT_EQ(pin.at[1].moment, trace::PinMoment::Behind);
  EXPECT_EQ(pin.at[2].at.site, "enter");
  EXPECT_EQ(pin.at[2].thread, "t0.2");
}

/// Runs that fail, and in which threads meet, as functions say.
class ToyOracle final : public analysis::NativeOracle {
 public:
  using Says = std::function<bool(const trace::Pins&)>;
  explicit ToyOracle(
      Says fails, Says meet = [](const trace::Pins&) { return true; })
      : fails_(std::move(fails)), meet_(std::move(meet)) {}
  analysis::NativeRuns run(const trace::Pins& pins, std::uint32_t runs) override {
    analysis::NativeRuns result;
    result.runs = runs;
    result.failures = fails_(pins) ? runs : 0;
    result.hits = meet_(pins) ? runs : 0;
    result.failed_hits = std::min(result.failures, result.hits);
    return result;
  }

 private:
  Says fails_;
  Says meet_;
};

trace::Pins pins_named(std::initializer_list<const char*> names) {
  trace::Pins pins;
  for (const char* name : names) {
    pins.emplace_back();
    pins.back().name = name;
  }
  return pins;
}

TEST(Choose, WhatIsNotNeededIsLeftOut) {
  ToyOracle oracle([](const trace::Pins& pins) {
    return std::ranges::any_of(pins, [](const auto& pin) { return pin.name == "b"; });
  });
  const std::vector<PinProposal> proposals = {{"none", pins_named({"x"})},
                                              {"three", pins_named({"a", "b", "c"})}};
  const analysis::Pinning pinning = analysis::choose_pins(oracle, proposals, {});
  EXPECT_EQ(pinning.origin, "three");
  ASSERT_EQ(pinning.pins.size(), 1u);
  EXPECT_EQ(pinning.pins[0].name, "b");
  EXPECT_EQ(pinning.with.failures, 100u);
  EXPECT_EQ(pinning.without.failures, 0u);
}

TEST(Choose, WhatDisappointsWhenMeasuredIsReplaced) {
  // The first holds for the hundred runs of the choice and fails the measurement.
  int runs_of_first = 0;
  ToyOracle oracle([&](const trace::Pins& pins) {
    if (pins.empty()) return false;
    if (pins[0].name == "sure") return true;
    return pins[0].name == "lucky" && pins[0].pause_ms == 200 && ++runs_of_first <= 3;
  });
  const std::vector<PinProposal> proposals = {{"first", pins_named({"lucky"})},
                                              {"second", pins_named({"sure"})}};
  const analysis::Pinning pinning = analysis::choose_pins(oracle, proposals, {});
  EXPECT_EQ(pinning.origin, "second");
  EXPECT_EQ(pinning.with.failures, pinning.with.runs);
}

TEST(Choose, APauseThatIsTooShortGrows) {
  int seen = 0;
  ToyOracle oracle([&](const trace::Pins& pins) {
    // Now and then also with a short pause: worth a longer one.
    return !pins.empty() && (pins[0].pause_ms >= 1000 || seen++ == 0);
  });
  const std::vector<PinProposal> proposals = {{"one", pins_named({"a"})}};
  const analysis::Pinning pinning = analysis::choose_pins(oracle, proposals, {});
  ASSERT_EQ(pinning.pins.size(), 1u);
  EXPECT_EQ(pinning.pins[0].pause_ms, 1000);
}

TEST(Choose, ThreadsThatMeetExplainMoreThanPauses) {
  const auto fails = [](const trace::Pins& pins) { return !pins.empty(); };
  ToyOracle oracle(
      fails, [](const trace::Pins& pins) { return pins.size() == 2 && pins[0].name == "met"; });
  const std::vector<PinProposal> proposals = {{"first", pins_named({"in vain"})},
                                              {"second", pins_named({"met", "met, too"})},
                                              {"third", pins_named({"in vain, too"})}};
  const analysis::Pinning pinning = analysis::choose_pins(oracle, proposals, {});
  EXPECT_EQ(pinning.origin, "second");
  EXPECT_EQ(pinning.pins.size(), 2u);  // with fewer it fails, but is not met
  EXPECT_TRUE(pinning.is_met());
}

TEST(Choose, PausesThatAreEnoughAreNotCalledAMeeting) {
  ToyOracle oracle([](const trace::Pins& pins) { return !pins.empty(); },
                   [](const trace::Pins&) { return false; });
  const std::vector<PinProposal> proposals = {{"one", pins_named({"a"})}};
  const analysis::Pinning pinning = analysis::choose_pins(oracle, proposals, {});
  EXPECT_EQ(pinning.with.failures, pinning.with.runs);
  EXPECT_FALSE(pinning.is_met());
}

TEST(Choose, AContextIsTriedWhenThePlaceAloneDoesNot) {
  ToyOracle oracle([](const trace::Pins& pins) {
    return !pins.empty() && pins[0].at[0].within && pins[0].at[0].thread.empty();
  });
  trace::Pins plain = pins_named({"a"});
  plain[0].at.resize(1);
  plain[0].at[0].thread = "t0.1";
  trace::Pins refined = plain;
  refined[0].at[0].within = trace::PinPlace{"", "", 0, "g", ""};
  const std::vector<PinProposal> proposals = {{"one", plain, {{", in context", refined}}}};
  const analysis::Pinning pinning = analysis::choose_pins(oracle, proposals, {});
  EXPECT_EQ(pinning.origin, "one, in context");
  EXPECT_EQ(pinning.with.failures, pinning.with.runs);
}

TEST(Choose, NothingIsPinnedByWhatDoesNotFail) {
  ToyOracle oracle([](const trace::Pins&) { return false; });
  const std::vector<PinProposal> proposals = {{"one", pins_named({"a"})}};
  const analysis::Pinning pinning = analysis::choose_pins(oracle, proposals, {});
  EXPECT_TRUE(pinning.pins.empty());
  EXPECT_EQ(pinning.without.runs, 100u);
}

trace::PinFile small_file() {
  trace::PinFile file;
  file.program = "./prog";
  file.arguments = {"3"};
  file.failure.kind = abi::FailureKind::Assert;
  file.failure.message = "a == b";
  trace::PinBreakpoint pin;
  pin.name = "pin 1";
  trace::PinSide first;
  first.at = {"f+2.store.abcd", "f.c", 3, "f", "x = 1;"};
  first.until = first.at;
  first.visit = 4;
  first.when = "x == 0";
  first.within = trace::PinPlace{"g+0.function.abcd", "", 0, "g", ""};
  first.holding = trace::PinPlace{"f+1.call.abcd", "f.c", 2, "f", "lock(&m);"};
  trace::PinSide second;
  second.side = 1;
  second.at = {"", "f.c", 5, "", ""};
  second.moment = trace::PinMoment::Behind;
  pin.at = {first, second};
  file.pins = {pin};
  return file;
}

TEST(PinFile, ComesBackAsItWasWritten) {
  const trace::PinFile file = small_file();
  EXPECT_EQ(report::parse_pin_file(report::to_json(file).dump(), "file"), file);
}

TEST(PinFile, SaysWhatIsWrongAndWhere) {
  const auto message = [](const nlohmann::json& object) {
    try {
      report::parse_pin_file(object.dump(), "pins.json");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::UserMistake);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  nlohmann::json good = report::to_json(small_file());
  nlohmann::json bad = good;
  bad["breakpoints"][0]["at"][1]["side"] = 2;
  EXPECT_NE(message(bad).find("side 2 of a breakpoint with 2 sides"), std::string::npos);
  bad = good;
  bad["breakpoints"][0]["at"][0]["visits"] = 1;
  EXPECT_NE(message(bad).find("\"visits\" is not known here"), std::string::npos);
  bad = good;
  bad["breakpoints"][0]["at"][0]["visit"] = -1;
  EXPECT_NE(message(bad).find("\"visit\" is not what it should be: -1"), std::string::npos);
  bad = good;
  bad["heddle_breakpoints"] = 2;
  EXPECT_NE(message(bad).find("version 1"), std::string::npos);
  bad = good;
  bad["failure"]["kind"] = "bad luck";
  EXPECT_NE(message(bad).find("no failure 'bad luck'"), std::string::npos);
}

TEST(Share, HasAnExactInterval) {
  const report::Share all = report::share_of(300, 300);
  EXPECT_EQ(all.percent, 100);
  EXPECT_NEAR(all.low, 98.78, 0.01);
  EXPECT_EQ(all.high, 100);
  const report::Share half = report::share_of(50, 100);
  EXPECT_NEAR(half.low, 39.83, 0.01);
  EXPECT_NEAR(half.high, 60.17, 0.01);
}

trace::Pins at_lines(std::uint32_t first, std::uint32_t until, std::uint32_t second) {
  trace::PinBreakpoint pin;
  pin.name = "pin 1";
  trace::PinSide one, other;
  one.at = {"a", "f.c", first, "f", ""};
  one.until = trace::PinPlace{"b", "f.c", until, "f", ""};
  other.side = 1;
  other.at = {"c", "f.c", second, "g", ""};
  pin.at = {one, other};
  return {pin};
}

TEST(Patch, StatementsStayWhole) {
  const std::vector<std::string> source = {"// comment",
                                           "int x;",
                                           "void f(void) {",
                                           "  if (x)",
                                           "    x = 1;",
                                           "  if (!x) x = 2;",
                                           "}",
                                           "void g(void) {",
                                           "  x =",
                                           "      3;",
                                           "}"};
  const auto read = [&](const std::string&) { return source; };
  const std::string patch = report::pin_patch(at_lines(5, 6, 10), read);
  const auto has = [&](const char* line) {
    return patch.find(std::string("\n") + line + "\n") != std::string::npos;
  };
  EXPECT_TRUE(has("+#include <heddle/breakpoint_c.h>")) << patch;
  EXPECT_TRUE(has("+static _Thread_local struct heddle_bp_turn heddle_turn_1;")) << patch;
  // A body without braces gets some, on a line of its own or not.
  EXPECT_TRUE(
      has("+    {\n+    heddle_bp_at(\"pin 1\", 0u, .pause_ms = 200, .bound = 1, "
          ".give_up = 20, .turn = &heddle_turn_1);\n+    x = 1;\n+    }"))
      << patch;
  EXPECT_TRUE(has("+  if (!x) {\n+    x = 2;\n+    heddle_bp_end_turn(&heddle_turn_1);\n+  }"))
      << patch;
  // In the middle of a statement means before it.
  EXPECT_TRUE(
      has("+  heddle_bp_at(\"pin 1\", 1u, .pause_ms = 200, .bound = 1, .give_up = 20);\n"
          "   x ="))
      << patch;
}

TEST(Patch, NothingGoesBehindTheEndOfAScope) {
  const std::vector<std::string> source = {"void f(void) {", "  x = 1;", "}",
                                           "void g(void) {", "  x = 2;", "}"};
  const std::string patch =
      report::pin_patch(at_lines(2, 3, 5), [&](const std::string&) { return source; });
  EXPECT_EQ(patch.find("heddle_bp_end_turn"), std::string::npos) << patch;
  EXPECT_EQ(patch.find(".turn"), std::string::npos) << patch;
}

TEST(Patch, WithoutTheSourceThereIsNone) {
  EXPECT_EQ(report::pin_patch(at_lines(1, 1, 2),
                              [](const std::string&) { return std::vector<std::string>(); }),
            "");
}

}  // namespace
}  // namespace heddle
