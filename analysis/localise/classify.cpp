// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/classify.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "trace/words.h"

namespace heddle::analysis {
namespace {

bool writes(const FoundAccess& access) {
  return access.role.find('W') != std::string::npos;
}

bool same_lines(const FoundAccess& x, const FoundAccess& y) {
  return x.point.site == y.point.site && x.thread == y.thread;
}

FoundAccess found(const Observed& run, std::size_t event) {
  FoundAccess result;
  const trace::Trace& trace = run.attempt.trace;
  result.point = run.accesses.point(event);
  if (const trace::Frame* const frame = trace::source_frame(trace, trace.events[event].site)) {
    result.frame = *frame;
  }
  result.thread = trace.threads[run.accesses.owner(event)].path;
  result.role = to_text(run.accesses.role(event));
  return result;
}

/// Two pairs between two threads there and back: each thread has two accesses, in some order.
struct Crossing {
  const FoundPair* there;
  const FoundPair* back;
};

std::optional<Crossing> crossing(const std::vector<FoundPair>& pairs, bool same_variable) {
  for (const FoundPair& there : pairs) {
    for (const FoundPair& back : pairs) {
      if (there.first.thread != back.second.thread || there.second.thread != back.first.thread) {
        continue;
      }
      if (&there != &back && (there.variable == back.variable) == same_variable) {
        return Crossing{&there, &back};
      }
    }
  }
  return std::nullopt;
}

/// Where the access would stand in its thread: what never happened comes last.
std::size_t position(const FoundAccess& access) {
  return access.event.value_or(~std::size_t{0});
}

Region region(const FoundAccess& x, const FoundAccess& y) {
  return position(x) <= position(y) ? Region{x, y} : Region{y, x};
}

void classify_crossing(Finding& finding, const Crossing& cross, bool one_variable) {
  const FoundAccess& a = cross.there->first;
  const FoundAccess& b = cross.there->second;
  const FoundAccess& c = cross.back->first;
  const FoundAccess& d = cross.back->second;
  const Region of_first = region(a, d);
  const Region of_second = region(b, c);
  finding.regions.push_back(of_first);
  if (one_variable) {
    finding.bug_class = BugClass::AtomicityViolation;
    // The thread whose two accesses enclose the other's.
    finding.shape =
        one_variable_shape(writes(of_first.first), writes(b) || writes(c), writes(of_first.last));
    if (!same_lines(b, c) && writes(b) != writes(c)) {
      const auto other =
          one_variable_shape(writes(of_first.first), writes(b), writes(of_first.last));
      if (other) finding.shape = other;
    }
    return;
  }
  finding.bug_class = BugClass::MultiVariableAtomicityViolation;
  if (!same_lines(b, c)) finding.regions.push_back(of_second);
  const auto shape_access = [](const FoundAccess& access, bool second,
                               const std::string& variable) {
    return ShapeAccess{second, position(access), variable, writes(access)};
  };
  finding.shape = two_variable_shape(
      {shape_access(a, false, cross.there->variable), shape_access(d, false, cross.back->variable),
       shape_access(b, true, cross.there->variable), shape_access(c, true, cross.back->variable)});
}

/// A single pair is an order violation unless its accesses also pass in this order, further apart:
/// then the accesses between which the other thread came were meant to be one step.
void classify_single(Finding& finding, const FoundPair& pair,
                     const std::vector<std::unique_ptr<Observed>>& bases) {
  finding.bug_class = BugClass::OrderViolation;
  const bool first_writes = writes(pair.first);
  const bool second_writes = writes(pair.second);
  finding.shape = first_writes && second_writes ? 3 : first_writes ? 1 : 2;
  for (const auto& base : bases) {
    const auto first = base->accesses.find(pair.first.point);
    const auto second = base->accesses.find(pair.second.point);
    if (!first || !second || *first > *second) continue;
    const Accesses& accesses = base->accesses;
    const trace::Trace& trace = base->attempt.trace;
    for (const PairInstance& instance : base->instances) {
      const trace::Event& event = trace.events[instance.first];
      const bool same_memory = event.object == trace.events[*second].object &&
                               event.offset == trace.events[*second].offset;
      const bool there = accesses.owner(instance.first) == accesses.owner(*first) &&
                         accesses.owner(instance.second) == accesses.owner(*second);
      if (!same_memory || !there) continue;
      const bool after = instance.first > *first && instance.second <= *second;
      const bool before = instance.first >= *first && instance.second < *second;
      if (!after && !before) continue;
      const FoundAccess other = found(*base, after ? instance.first : instance.second);
      const FoundAccess& start = after ? pair.first : other;
      const FoundAccess& end = after ? other : pair.second;
      finding.bug_class = BugClass::AtomicityViolation;
      finding.regions.push_back({start, end});
      finding.shape =
          one_variable_shape(writes(start), after ? second_writes : first_writes, writes(end));
      return;
    }
  }
}

/// Whether a store of the class became visible after a later access of its own thread.
bool reordered(const Finding& finding, const Observed& failed) {
  const trace::Trace& trace = failed.attempt.trace;
  const auto model = trace.header.options.find("memory_model");
  if (model == trace.header.options.end() || model->second == "sc") return false;
  const auto delayed = [&](const FoundAccess& access) {
    if (!access.event || trace.events[*access.event].kind != trace::EventKind::Flush) {
      return access.event == std::nullopt && access.point.site == "<flush>";
    }
    const trace::Event& flush = trace.events[*access.event];
    const trace::ThreadId owner = failed.accesses.owner(*access.event);
    for (std::size_t i = *access.event; i-- > 0;) {
      const trace::Event& event = trace.events[i];
      if (failed.accesses.owner(i) != owner || event.kind == trace::EventKind::Flush) continue;
      if (event.site == flush.site) return false;  // the store itself: nothing came in between
      if (event.object != trace::kNone) return true;
    }
    return false;
  };
  return std::any_of(finding.pairs.begin(), finding.pairs.end(), [&](const FoundPair& pair) {
    return delayed(pair.first) || delayed(pair.second);
  });
}

}  // namespace

std::optional<unsigned> one_variable_shape(bool first_writes, bool between_writes,
                                           bool last_writes) {
  if (first_writes && between_writes && !last_writes) return 4;
  if (!first_writes && between_writes && last_writes) return 5;
  if (!first_writes && between_writes && !last_writes) return 6;
  if (first_writes && !between_writes && last_writes) return 7;
  return std::nullopt;
}

std::optional<unsigned> two_variable_shape(std::vector<ShapeAccess> accesses) {
  if (accesses.size() != 4) return std::nullopt;
  struct Row {
    unsigned shape;
    std::string_view text;  // first thread, second thread; x is what the first one begins with
  };
  constexpr Row rows[] = {{8, "RxWyWxRy"},  {9, "RxWyRyWx"},  {10, "WxWyRxRy"}, {11, "WxWyWxRy"},
                          {12, "WxWyWxWy"}, {13, "WxWyRyRx"}, {14, "WxWyRyWx"}, {15, "WxWyWyWx"}};
  for (const bool swapped : {false, true}) {
    std::vector<ShapeAccess> sorted = accesses;
    if (swapped) {
      for (ShapeAccess& access : sorted) access.second_thread = !access.second_thread;
    }
    std::sort(sorted.begin(), sorted.end(), [](const ShapeAccess& x, const ShapeAccess& y) {
      return std::pair{x.second_thread, x.order} < std::pair{y.second_thread, y.order};
    });
    std::string text;
    for (const ShapeAccess& access : sorted) {
      text += access.writes ? 'W' : 'R';
      text += access.variable == sorted[0].variable ? 'x' : 'y';
    }
    for (const Row& row : rows) {
      if (row.text == text) return row.shape;
    }
  }
  return std::nullopt;
}

void classify(Finding& finding, const Observed& failed,
              const std::vector<std::unique_ptr<Observed>>& bases) {
  if (finding.pairs.empty()) return;
  if (const auto cross = crossing(finding.pairs, false)) {
    classify_crossing(finding, *cross, false);
  } else if (const auto twice = crossing(finding.pairs, true)) {
    classify_crossing(finding, *twice, true);
  } else {
    classify_single(finding, finding.pairs.front(), bases);
  }
  const trace::Outcome& outcome = failed.attempt.trace.outcome;
  const bool waits_for_condition =
      std::any_of(outcome.waits.begin(), outcome.waits.end(), [&](const trace::Wait& wait) {
        return wait.kind == trace::EventKind::CondWait || wait.kind == trace::EventKind::CondWake ||
               wait.kind == trace::EventKind::MutexLock;
      });
  if (outcome.kind == trace::FailureKind::LostWakeup && waits_for_condition) {
    finding.bug_class = BugClass::MissedNotification;
    finding.shape.reset();
  } else if (reordered(finding, failed)) {
    finding.bug_class = BugClass::MemoryOrderViolation;
    finding.shape.reset();
  }
}

}  // namespace heddle::analysis
