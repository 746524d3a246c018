// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/suspects.h"

#include <algorithm>
#include <set>

#include "trace/words.h"

namespace heddle::analysis {
namespace {

constexpr std::size_t kMaxInstances = 6;  // of one pair that are experimented with

bool known(const std::vector<Suspect>& suspects, const Suspect& suspect) {
  return std::any_of(suspects.begin(), suspects.end(),
                     [&](const Suspect& other) { return other.points == suspect.points; });
}

}  // namespace

void add(std::vector<Suspect>& to, const std::vector<Suspect>& more) {
  for (const Suspect& suspect : more) {
    if (!known(to, suspect)) to.push_back(suspect);
  }
}

Suspects::Suspects(const Observed& failed, const PassingRuns& passing, PairTable& table)
    : failed_(failed), passing_(passing), table_(table) {
  for (const PairInstance& instance : failed.instances) {
    instances_[names_of(failed).id(instance)].push_back(instance);
  }
}

PairNames& Suspects::names_of(const Observed& run) {
  return names_.try_emplace(&run, run.accesses, table_).first->second;
}

std::vector<Suspect> Suspects::of(const Candidate& candidate, std::uint32_t id) {
  std::vector<Suspect> result;
  if (candidate.in_failed_run) {
    const std::vector<PairInstance>& all = instances_[id];
    for (std::size_t i = all.size(); i-- > 0 && result.size() < kMaxInstances;) {
      result.push_back(of(id, failed_, all[i].first, all[i].second));
    }
    return result;
  }
  const std::uint32_t original = table_.reversed(id);
  for (const auto& base : passing_.bases()) {
    for (const PairInstance& instance : base->instances) {
      PairNames& names = names_of(*base);
      if (table_.pc(names.id(instance)) != table_.pc(original)) continue;
      if (candidate.rounds) {
        const Rounds rounds = names.rounds(instance);
        if (*candidate.rounds != Rounds{rounds.second, rounds.first}) continue;
      }
      const Suspect found = of(id, *base, instance.second, instance.first);
      if (!known(result, found) && result.size() < kMaxInstances) result.push_back(found);
    }
  }
  return result;
}

Suspect Suspects::of(const PairInstance& instance) {
  return of(names_of(failed_).id(instance), failed_, instance.first, instance.second);
}

Suspect Suspects::of(std::uint32_t id, const Observed& origin, std::size_t first,
                     std::size_t second) const {
  const PairPoints points{origin.accesses.point(first), origin.accesses.point(second)};
  const auto in_failed = failed_.accesses.find(points.first);
  const auto then = failed_.accesses.find(points.second);
  return {id, points, &origin, first, second, in_failed && then && *in_failed < *then};
}

std::vector<Suspect> Suspects::cut_off() {
  std::vector<Suspect> result;
  std::set<PairPoints> seen;
  for (const auto& base : passing_.bases()) {
    for (const PairInstance& instance : base->instances) {
      const Suspect turned =
          of(table_.reversed(names_of(*base).id(instance)), *base, instance.second, instance.first);
      if (!seen.insert(turned.points).second || !failed_.accesses.find(turned.points.first) ||
          failed_.accesses.find(turned.points.second)) {
        continue;
      }
      result.push_back(turned);
    }
  }
  return result;
}

FoundAccess found_access(const Observed& origin, std::size_t event, const Observed& failed) {
  const trace::Trace& trace = origin.attempt.trace;
  FoundAccess access;
  access.point = origin.accesses.point(event);
  if (const trace::Frame* const frame = trace::source_frame(trace, trace.events[event].site)) {
    access.frame = *frame;
  }
  access.thread = trace.threads[origin.accesses.owner(event)].path;
  access.role = to_text(origin.accesses.role(event));
  const LoopStacks& loops = origin.accesses.loops();
  for (const LoopStacks::Round& round : loops.stack(origin.accesses.round(event))) {
    access.loops.push_back({trace.sites[round.loop].key, {}, round.entry, round.iteration});
    if (const trace::Frame* const frame = trace::source_frame(trace, round.loop)) {
      access.loops.back().frame = *frame;
    }
  }
  for (const trace::SiteIndex function :
       origin.accesses.calls().at(origin.accesses.origin(event))) {
    if (const trace::Frame* const frame = trace::source_frame(trace, function)) {
      access.context.push_back(*frame);
    }
  }
  access.event = &origin == &failed ? event : failed.accesses.find(access.point);
  return access;
}

void set_memory(FoundPair& pair, const trace::Trace& trace, trace::ObjectIndex object,
                std::uint64_t offset) {
  pair.variable = trace::memory_name(trace, object, offset);
  pair.object_kind = trace.objects[object].kind;
  pair.object = trace.objects[object].name;
  pair.offset = offset;
}

FoundPair Suspects::found_pair(const Suspect& suspect, bool suspicious) const {
  const trace::Trace& trace = suspect.origin->attempt.trace;
  const trace::Event& event = trace.events[suspect.second];
  FoundPair pair;
  set_memory(pair, trace, event.object, event.offset);
  pair.first = found_access(*suspect.origin, suspect.first, failed_);
  pair.second = found_access(*suspect.origin, suspect.second, failed_);
  pair.in_failed_run = suspect.in_failed_run;
  pair.suspicious = suspicious;
  return pair;
}

}  // namespace heddle::analysis
