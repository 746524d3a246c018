// SPDX-License-Identifier: Apache-2.0
//
// The test procedures on the examples of the paper (LOCON, ASE 2014), as traces written by hand.
#include "analysis/localise/procedures.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/localise/classify.h"
#include "analysis/localise/falcon.h"
#include "tests/analysis/small_trace.h"

namespace heddle::analysis {
namespace {

/// Runs of one program, and what a procedure says of them: "a->b", two of them joined by " & ".
struct Case {
  SmallTrace failed;
  std::vector<SmallTrace> passing;
  bool tells_loops = false;

  std::vector<std::string> suspects(Procedure procedure, Level level = Level::Pc) const {
    PairTable table(tells_loops);
    const auto collect = [&](const SmallTrace& small) {
      const Accesses accesses(small.trace());
      return collect_pairs(accesses, immediate_pairs(accesses), table);
    };
    const Accesses accesses(failed.trace());
    const RunPairs in_failed = collect(failed);
    std::vector<RunPairs> in_passing;
    for (const SmallTrace& small : passing) in_passing.push_back(collect(small));
    std::vector<std::string> result;
    for (const Candidate& candidate :
         test_procedure(procedure, level, {accesses, in_failed, in_passing, table})) {
      std::string text;
      for (const std::uint32_t id : candidate.pairs) {
        text += (text.empty() ? "" : " & ") + table.name(id).first.site + "->" +
                table.name(id).second.site;
      }
      result.push_back(text);
    }
    return result;
  }
};

using Suspects = std::vector<std::string>;

/// Figure 4: t1 does W1 x, R2 y; t2 does W3 y, R4 x. The bug is W3 y -> R2 y.
TEST(ProcedureOne, WithoutPairsThatPredictAnother) {
  const SmallTrace passing =
      SmallTrace().writes(1, "1", "x").reads(1, "2", "y").writes(2, "3", "y").reads(2, "4", "x");
  const Case first{
      SmallTrace().writes(1, "1", "x").writes(2, "3", "y").reads(1, "2", "y").reads(2, "4", "x"),
      {passing}};
  EXPECT_EQ(first.suspects(Procedure::One), (Suspects{"3->2"}));
  // In the second failing run 4->1 is there too; it predicts 3->2 and is no cause.
  const Case second{
      SmallTrace().writes(2, "3", "y").reads(2, "4", "x").writes(1, "1", "x").reads(1, "2", "y"),
      {passing}};
  EXPECT_EQ(second.suspects(Procedure::One), (Suspects{"3->2"}));
}

TEST(Predictable, ThroughProgramOrderCreationAndJoining) {
  SmallTrace small;  // t0 creates both; events 2 ... are:
  small.writes(1, "1", "x").reads(1, "2", "y").writes(2, "3", "y").reads(2, "4", "x");
  const Accesses accesses(small.trace());
  const PairInstance x{2, 5};
  const PairInstance y{3, 4};
  EXPECT_TRUE(predictable(accesses, x, y));   // 1 before 2 -> 3 before 4
  EXPECT_FALSE(predictable(accesses, y, x));  // but not the other way round
  EXPECT_FALSE(predictable(accesses, x, x));
  SmallTrace joined;
  joined.reads(2, "a", "x").writes(1, "b", "x").joins(0, 1).reads(0, "c", "x");
  const Accesses others(joined.trace());
  EXPECT_TRUE(predictable(others, {2, 5}, {2, 3}));  // b before c by the join
}

TEST(ProcedureOne, RanksByOccurrence) {
  const Case it{SmallTrace()
                    .reads(1, "check", "x")
                    .writes(2, "clear", "x")
                    .reads(1, "use", "x")
                    .writes(1, "log", "z")
                    .reads(2, "dump", "z"),
                {SmallTrace().reads(1, "check", "x").reads(1, "use", "x").writes(2, "clear", "x")}};
  EXPECT_EQ(it.suspects(Procedure::One), (Suspects{"check->clear", "clear->use", "log->dump"}));
}

/// Figure 1: the read that fails comes before the write that never happens.
TEST(ProcedureTwo, TheReverseOfWhatAllPassingRunsHave) {
  const SmallTrace passing = SmallTrace().writes(1, "init", "band").reads(2, "use", "band");
  const Case it{SmallTrace().reads(2, "use", "band").fails(), {passing, passing}};
  EXPECT_EQ(it.suspects(Procedure::One), (Suspects{}));
  EXPECT_EQ(it.suspects(Procedure::Two), (Suspects{"use->init"}));
}

/// Shape 10 cut off: Wa x -> Rb x is there, Rc y -> Wd y is not, for Rc was the end.
TEST(ProcedureTwo, OneOfTwoThatAlwaysComeTogether) {
  const SmallTrace writer_first =
      SmallTrace().writes(1, "a", "x").writes(1, "d", "y").reads(2, "b", "x").reads(2, "c", "y");
  const SmallTrace reader_first =
      SmallTrace().reads(2, "b", "x").reads(2, "c", "y").writes(1, "a", "x").writes(1, "d", "y");
  const Case it{SmallTrace().writes(1, "a", "x").reads(2, "b", "x").reads(2, "c", "y").fails(),
                {writer_first, reader_first}};
  EXPECT_EQ(it.suspects(Procedure::Two), (Suspects{"c->d"}));
}

/// A sum that is read when one of two pieces is there: only the iteration tells what is missing.
TEST(ProcedureTwo, AtLoopTheIterationThatIsMissing) {
  const SmallTrace passing =
      SmallTrace().writes(1, "add", "x").writes(1, "add", "x").reads(2, "sum", "x");
  const Case it{SmallTrace().writes(1, "add", "x").reads(2, "sum", "x").fails(),
                {passing, passing}};
  EXPECT_EQ(it.suspects(Procedure::Two, Level::Pc), (Suspects{}));
  EXPECT_EQ(it.suspects(Procedure::Two, Level::Loop), (Suspects{"sum->add"}));
}

TEST(ProcedureThree, TwoPairsThatNeverPassTogether) {
  const SmallTrace writer_first =
      SmallTrace().writes(1, "a", "x").writes(1, "d", "y").reads(2, "b", "x").reads(2, "c", "y");
  const SmallTrace reader_first =
      SmallTrace().reads(2, "b", "x").reads(2, "c", "y").writes(1, "a", "x").writes(1, "d", "y");
  const Case it{
      SmallTrace().writes(1, "a", "x").reads(2, "b", "x").reads(2, "c", "y").writes(1, "d", "y"),
      {writer_first, reader_first}};
  EXPECT_EQ(it.suspects(Procedure::One), (Suspects{}));
  EXPECT_EQ(it.suspects(Procedure::Three), (Suspects{"a->b & c->d"}));
}

/// Figure 6: t1 writes x and y in a loop, t2 reads both. Only iterations tell the failing run.
TEST(ProcedureThree, LevelsPcTidLoop) {
  const auto run = [](const std::vector<int>& order) {
    SmallTrace small;
    for (const int step : order) {
      if (step == 2) small.writes(1, "2", "x");
      if (step == 3) small.writes(1, "3", "y");
      if (step == 5) small.reads(2, "5", "x");
      if (step == 6) small.reads(2, "6", "y");
    }
    return small;
  };
  const Case it{run({5, 2, 3, 6, 2, 3}),
                {run({5, 6, 2, 3, 2, 3}), run({2, 3, 5, 6, 2, 3}), run({2, 3, 2, 3, 5, 6})}};
  EXPECT_EQ(it.suspects(Procedure::Three, Level::Pc), (Suspects{}));
  EXPECT_EQ(it.suspects(Procedure::Three, Level::Tid), (Suspects{}));
  EXPECT_EQ(it.suspects(Procedure::Three, Level::Loop), (Suspects{"5->2 & 3->6"}));
}

/// The same with the loops told: whether x and y of one round are meant is seen from the rounds,
/// also where sites were visited different numbers of times.
TEST(ProcedureThree, AtLoopByTheRoundsOfLoops) {
  const auto run = [](const std::vector<int>& order) {
    SmallTrace small;
    small.writes(1, "3", "warm-up");  // visits count this one, rounds do not
    bool inside = false;
    for (const int step : order) {
      if (step == 2 && !inside) small.enters(1, "loop").writes(1, "2", "x");
      if (step == 2 && inside) small.again(1, "loop").writes(1, "2", "x");
      inside = inside || step == 2;
      if (step == 3) small.writes(1, "3", "y");
      if (step == 5) small.reads(2, "5", "x");
      if (step == 6) small.reads(2, "6", "y");
    }
    return small;
  };
  const Case it{run({5, 2, 3, 6, 2, 3}),
                {run({5, 6, 2, 3, 2, 3}), run({2, 3, 5, 6, 2, 3}), run({2, 3, 2, 3, 5, 6})},
                true};
  EXPECT_EQ(it.suspects(Procedure::Three, Level::Tid), (Suspects{}));
  EXPECT_EQ(it.suspects(Procedure::Three, Level::Loop), (Suspects{"5->2 & 3->6"}));
}

TEST(Falcon, PatternsOfOneLocation) {
  const SmallTrace small =
      SmallTrace().reads(1, "a", "x").writes(2, "b", "x").reads(1, "c", "x").reads(1, "d", "x");
  const Accesses accesses(small.trace());
  std::vector<std::string> found;
  for (const auto& [pattern, events] : falcon_patterns(accesses)) {
    std::string text;
    for (const AccessName& access : pattern) text += access.site;
    found.push_back(text);
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (Suspects{"ab", "abc", "bc"}));
  EXPECT_DOUBLE_EQ(jaccard(0), 1.0);
  EXPECT_DOUBLE_EQ(jaccard(3), 0.25);
}

TEST(Shapes, OfOneVariable) {
  EXPECT_EQ(one_variable_shape(true, true, false), 4u);
  EXPECT_EQ(one_variable_shape(false, true, true), 5u);
  EXPECT_EQ(one_variable_shape(false, true, false), 6u);
  EXPECT_EQ(one_variable_shape(true, false, true), 7u);
  EXPECT_EQ(one_variable_shape(false, false, true), std::nullopt);
}

TEST(Shapes, OfTwoVariables) {
  const auto shape = [](const std::string& text) {  // "RxWy|WxRy"
    std::vector<ShapeAccess> accesses;
    bool second = false;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
      if (text[i] == '|') {
        second = true;
        ++i;
      }
      accesses.push_back({second, i, std::string(1, text[i + 1]), text[i] == 'W'});
    }
    return two_variable_shape(accesses);
  };
  EXPECT_EQ(shape("RxWy|WxRy"), 8u);
  EXPECT_EQ(shape("RxWy|RyWx"), 9u);
  EXPECT_EQ(shape("WxWy|RxRy"), 10u);
  EXPECT_EQ(shape("RpRq|WpWq"), 10u);  // whichever thread is named first
  EXPECT_EQ(shape("WxWy|WxRy"), 11u);
  EXPECT_EQ(shape("WxWy|WxWy"), 12u);
  EXPECT_EQ(shape("WxWy|RyRx"), 13u);
  EXPECT_EQ(shape("WxWy|RyWx"), 14u);
  EXPECT_EQ(shape("WxWy|WyWx"), 15u);
  EXPECT_EQ(shape("RxRy|RxRy"), std::nullopt);
}

}  // namespace
}  // namespace heddle::analysis
