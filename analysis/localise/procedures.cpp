// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/procedures.h"

#include <algorithm>
#include <set>

namespace heddle::analysis {
namespace {

/// Whether `run` shows the pair, as exactly as `level` says. LOOP adds nothing to a single pair.
bool shows(const RunPairs& run, const PairTable& table, std::uint32_t id, Level level) {
  return level == Level::Pc ? run.has_pc(table.pc(id)) : run.has(id);
}

bool any_shows(const Evidence& evidence, std::uint32_t id, Level level) {
  return std::any_of(evidence.passing.begin(), evidence.passing.end(),
                     [&](const RunPairs& run) { return shows(run, evidence.table, id, level); });
}

/// Algorithm 1. What only the failed run shows, without what predicts another of them, in the order
/// of occurrence: what a failure causes comes after it.
std::vector<Candidate> only_in_failed(const Evidence& evidence, Level level) {
  std::vector<SeenPair> suspects;
  for (const SeenPair& pair : evidence.failed.seen) {
    if (!any_shows(evidence, pair.id, level)) suspects.push_back(pair);
  }
  std::vector<Candidate> result;
  for (const SeenPair& pair : suspects) {
    const bool predicts = std::any_of(suspects.begin(), suspects.end(), [&](const SeenPair& other) {
      return other.id != pair.id && predictable(evidence.failed_accesses, other.at, pair.at);
    });
    if (!predicts) result.push_back({{pair.id}, true, {}});
  }
  return result;
}

/// In which passing runs a pair is, one character each.
std::string presence(const Evidence& evidence, std::uint32_t id, Level level) {
  std::string result;
  for (const RunPairs& run : evidence.passing) {
    result.push_back(shows(run, evidence.table, id, level) ? '1' : '0');
  }
  return result;
}

/// Algorithm 2. Pairs of every passing run, and pairs that always come together with one the failed
/// run has, that the failed run lacks: reversed they are what its end cut off.
std::vector<Candidate> missing_in_failed(const Evidence& evidence, Level level) {
  std::vector<Candidate> result;
  if (evidence.passing.empty()) return result;
  const std::string everywhere(evidence.passing.size(), '1');
  std::map<std::string, std::set<std::string>> companions;  // presence: variables in the failed run
  for (const SeenPair& pair : evidence.failed.seen) {
    companions[presence(evidence, pair.id, level)].insert(evidence.table.name(pair.id).variable);
  }
  std::set<std::uint32_t> done;
  for (const RunPairs& run : evidence.passing) {
    for (const SeenPair& pair : run.seen) {
      const std::uint32_t key = level == Level::Pc ? evidence.table.pc(pair.id) : pair.id;
      if (!done.insert(key).second || shows(evidence.failed, evidence.table, pair.id, level)) {
        continue;
      }
      const std::string where = presence(evidence, pair.id, level);
      bool suspicious = where == everywhere;
      if (const auto with = companions.find(where); !suspicious && with != companions.end()) {
        const std::string& variable = evidence.table.name(pair.id).variable;
        suspicious = with->second.size() > (with->second.contains(variable) ? 1u : 0u);
      }
      if (suspicious) result.push_back({{evidence.table.reversed(pair.id)}, false, {}});
    }
  }
  return result;
}

/// Algorithm 2 at LOOP: each round of a pair for itself. Of a loop that all but the last rounds of
/// have been in time, PC and TID see nothing missing.
std::vector<Candidate> missing_rounds(const Evidence& evidence) {
  std::vector<Candidate> result;
  if (evidence.passing.empty()) return result;
  const auto has = [](const RunPairs& run, std::uint32_t id, const Rounds& rounds) {
    const auto pair = run.by_id.find(id);
    if (pair == run.by_id.end()) return false;
    const std::vector<Rounds>& seen = run.seen[pair->second].rounds;
    return std::find(seen.begin(), seen.end(), rounds) != seen.end();
  };
  for (const SeenPair& pair : evidence.passing.front().seen) {
    for (const Rounds& rounds : pair.rounds) {
      const bool everywhere =
          std::all_of(evidence.passing.begin(), evidence.passing.end(),
                      [&](const RunPairs& run) { return has(run, pair.id, rounds); });
      if (!everywhere || has(evidence.failed, pair.id, rounds)) continue;
      result.push_back(
          {{evidence.table.reversed(pair.id)}, false, Rounds{rounds.second, rounds.first}});
    }
  }
  return result;
}

/// Two pairs of one run that go between the same two threads in opposite directions: the only form
/// an atomicity violation of two variables has (LOCON, Table 1).
bool opposite(const PairTable& table, std::uint32_t x, std::uint32_t y) {
  const PairName& a = table.name(x);
  const PairName& b = table.name(y);
  return a.first.thread == b.second.thread && a.second.thread == b.first.thread;
}

/// For LOOP: whether the two accesses of each thread are of one round, or of which of two.
using Apart = std::pair<int, int>;

std::set<Apart> apart(const RoundTable& rounds, const SeenPair& x, const SeenPair& y) {
  std::set<Apart> result;
  for (const auto& [first, second] : x.rounds) {
    for (const auto& [other_first, other_second] : y.rounds) {
      result.emplace(rounds.compare(first, other_second), rounds.compare(second, other_first));
    }
  }
  return result;
}

bool together(const RunPairs& run, const PairTable& table, const SeenPair& x, const SeenPair& y,
              Level level) {
  const auto xs = run.by_pc.find(table.pc(x.id));
  const auto ys = run.by_pc.find(table.pc(y.id));
  if (xs == run.by_pc.end() || ys == run.by_pc.end()) return false;
  if (level == Level::Pc) return true;
  for (const std::size_t i : xs->second) {
    for (const std::size_t j : ys->second) {
      if (!opposite(table, run.seen[i].id, run.seen[j].id)) continue;
      if (level == Level::Tid) return true;
      const std::set<Apart> here = apart(table.rounds(), run.seen[i], run.seen[j]);
      const std::set<Apart> failed = apart(table.rounds(), x, y);
      const bool all = std::includes(here.begin(), here.end(), failed.begin(), failed.end());
      if (all) return true;
    }
  }
  return false;
}

/// Algorithm 3. Two pairs on different memory that each are in passing runs too, but together only
/// in the failed one.
std::vector<Candidate> only_together(const Evidence& evidence, Level level) {
  std::vector<SeenPair> shared;
  for (const SeenPair& pair : evidence.failed.seen) {
    if (any_shows(evidence, pair.id, Level::Pc)) shared.push_back(pair);
  }
  struct Couple {
    const SeenPair* x;
    const SeenPair* y;
  };
  std::vector<Couple> couples;
  for (std::size_t i = 0; i < shared.size(); ++i) {
    for (std::size_t j = i + 1; j < shared.size(); ++j) {
      const SeenPair& x = shared[i];
      const SeenPair& y = shared[j];
      const bool same_memory =
          evidence.table.name(x.id).variable == evidence.table.name(y.id).variable;
      if (same_memory || !opposite(evidence.table, x.id, y.id)) continue;
      const bool passes = std::any_of(
          evidence.passing.begin(), evidence.passing.end(),
          [&](const RunPairs& run) { return together(run, evidence.table, x, y, level); });
      if (!passes) couples.push_back({&x, &y});
    }
  }
  std::vector<Candidate> result;
  for (const Couple& couple : couples) {
    // A couple that predicts part of another says more than is needed.
    const auto predicts = [&](const SeenPair* by, const Couple& other) {
      const auto implied = [&](const SeenPair* pair) {
        return pair != couple.x && pair != couple.y &&
               predictable(evidence.failed_accesses, pair->at, by->at);
      };
      return implied(other.x) || implied(other.y);
    };
    const bool redundant = std::any_of(couples.begin(), couples.end(), [&](const Couple& other) {
      return (other.x != couple.x || other.y != couple.y) &&
             (predicts(couple.x, other) || predicts(couple.y, other));
    });
    if (!redundant) result.push_back({{couple.x->id, couple.y->id}, true, {}});
  }
  return result;
}

}  // namespace

const char* to_text(Procedure procedure) {
  switch (procedure) {
    case Procedure::One: return "I";
    case Procedure::Two: return "II";
    case Procedure::Three: break;
  }
  return "III";
}

bool predictable(const Accesses& accesses, const PairInstance& implied, const PairInstance& by) {
  if (implied == by) return false;
  const auto not_after = [&](std::size_t x, std::size_t y) {
    return x == y || accesses.before(x, y);
  };
  return not_after(implied.first, by.first) && not_after(by.second, implied.second);
}

std::vector<Candidate> test_procedure(Procedure procedure, Level level, const Evidence& evidence) {
  switch (procedure) {
    case Procedure::One: return only_in_failed(evidence, level);
    case Procedure::Two:
      return level == Level::Loop ? missing_rounds(evidence) : missing_in_failed(evidence, level);
    case Procedure::Three: break;
  }
  return only_together(evidence, level);
}

}  // namespace heddle::analysis
