// SPDX-License-Identifier: Apache-2.0
#include "analysis/localise/classify.h"

#include <algorithm>
#include <string_view>

#include "abi/names.h"
#include "analysis/localise/suspects.h"
#include "trace/words.h"

namespace heddle::analysis {
namespace {

bool reads(const FoundAccess& access) {
  return access.role.find('R') != std::string::npos;
}
bool writes(const FoundAccess& access) {
  return access.role.find('W') != std::string::npos;
}

/// Where the access would stand in its thread: what never happened comes last.
std::size_t position(const FoundAccess& access) {
  return access.event.value_or(~std::size_t{0});
}

Region region(const FoundAccess& x, const FoundAccess& y) {
  return position(x) <= position(y) ? Region{x, y} : Region{y, x};
}

/// Whether the two are in one iteration of the loops that both are in: a step seldom reaches into
/// the next (LOCON, 4.3).
bool in_one_round(const Region& step) {
  const std::vector<FoundLoop>& first = step.first.loops;
  const std::vector<FoundLoop>& last = step.last.loops;
  for (std::size_t i = 0; i < first.size() && i < last.size(); ++i) {
    if (first[i].site != last[i].site || first[i].entry != last[i].entry) return true;
    if (first[i].iteration != last[i].iteration) return false;
  }
  return true;
}

/// Shapes 4 to 7 for accesses that may read and write at once: as whichever makes a shape. What a
/// step shows in the middle of its two writes comes first: a counter that goes up and down.
std::optional<unsigned> shape_of_step(const FoundAccess& first, const FoundAccess& between,
                                      const FoundAccess& last) {
  for (const unsigned shape : {7u, 5u, 4u, 6u}) {
    const bool first_writes = shape == 4 || shape == 7;
    const bool between_writes = shape != 7;
    const bool last_writes = shape == 5 || shape == 7;
    const auto can = [](const FoundAccess& access, bool write) {
      return write ? writes(access) : reads(access);
    };
    if (can(first, first_writes) && can(between, between_writes) && can(last, last_writes)) {
      return shape;
    }
  }
  return std::nullopt;
}

constexpr std::size_t kMaxOtherPairs = 40;  // of the failed run, from its last

class Classifier {
 public:
  Classifier(Finding& finding, const Observed& failed, SerialOrders& orders)
      : finding_(finding), failed_(failed), orders_(orders) {}

  void run() {
    if (!atomicity()) {
      const FoundPair& pair = finding_.pairs.front();
      finding_.bug_class = BugClass::OrderViolation;
      finding_.shape = writes(pair.first) && writes(pair.second) ? 3 : writes(pair.first) ? 1 : 2;
    }
    if (loses_notification()) {
      finding_.bug_class = BugClass::MissedNotification;
      finding_.shape.reset();
    } else if (reordered()) {
      finding_.bug_class = BugClass::MemoryOrderViolation;
      finding_.shape.reset();
    }
  }

 private:
  /// Two pairs from and to one thread: its two accesses, and what came between them.
  struct Crossing {
    const FoundPair* there;  // from it
    const FoundPair* back;   // to it
  };

  /// The pair in which the failure shows itself says least about its cause.
  bool is_symptom(const FoundPair& pair) const {
    if (!pair.second.event) return false;
    const auto next = failed_.accesses.next_of_thread(*pair.second.event);
    return !next && failed_.attempt.trace.events[*pair.second.event].thread ==
                        failed_.attempt.trace.outcome.thread;
  }

  /// An access that the run did not come to is missed by whoever failed, too, if that had been at
  /// the same memory last.
  std::vector<FoundPair> missed_by_failing_thread() const {
    std::vector<FoundPair> result;
    const trace::ThreadId failing = failed_.attempt.trace.outcome.thread;
    if (failing == trace::kNone) return result;
    const std::string& path = failed_.attempt.trace.threads[failing].path;
    for (const FoundPair& pair : finding_.pairs) {
      if (!pair.suspicious || pair.second.event || !writes(pair.second) ||
          pair.first.thread == path || pair.second.thread == path) {
        continue;
      }
      for (std::size_t i = failed_.attempt.trace.events.size(); i-- > 0;) {
        if (failed_.accesses.owner(i) != failing || !touches(failed_, i, pair)) continue;
        result.push_back(pair);
        result.back().first = found_access(failed_, i, failed_);
        break;
      }
    }
    return result;
  }

  bool atomicity() {
    const std::vector<FoundPair> missed = missed_by_failing_thread();
    for (const bool symptoms : {false, true}) {
      std::vector<const FoundPair*> pairs;
      for (const FoundPair& pair : finding_.pairs) {
        if (is_data(pair) && (symptoms || !is_symptom(pair))) pairs.push_back(&pair);
      }
      for (const FoundPair& pair : missed) {
        pairs.insert(pairs.begin() + static_cast<std::ptrdiff_t>(suspicious_among(pairs)), &pair);
      }
      // What the procedures suspect comes first in the list: it should have a part in it.
      const std::size_t suspicious = suspicious_among(pairs);
      if (crossed(pairs, suspicious)) return true;
      if (!only_in_order() && crossed(pairs, pairs.size())) return true;
      if (enclosing(pairs)) return true;
    }
    return with_other_pairs();
  }

  static std::size_t suspicious_among(const std::vector<const FoundPair*>& pairs) {
    return static_cast<std::size_t>(std::count_if(
        pairs.begin(), pairs.end(), [](const FoundPair* pair) { return pair->suspicious; }));
  }

  /// Whether no passing run has a suspicious pair's accesses in the order of the failed run,
  /// however far apart: then it is about that order, and what else is needed only leads there.
  bool only_in_order() const {
    return std::none_of(finding_.pairs.begin(), finding_.pairs.end(), [&](const FoundPair& pair) {
      return pair.suspicious &&
             std::any_of(orders_.passing().begin(), orders_.passing().end(), [&](const auto& run) {
               const auto first = run->accesses.find(pair.first.point);
               const auto second = run->accesses.find(pair.second.point);
               return first && second && *first < *second;
             });
    });
  }

  /// How threads wait for each other is not what they were meant to do in one step.
  bool is_data(const FoundPair& pair) const {
    const auto is_sync = [&](const FoundAccess& access) {
      if (!access.event) return false;
      const trace::EventKind kind = failed_.attempt.trace.events[*access.event].kind;
      return abi::access_of(kind) == abi::Access::Sync || kind == trace::EventKind::CondSignal ||
             kind == trace::EventKind::CondBroadcast;
    };
    return !is_sync(pair.first) && !is_sync(pair.second);
  }

  /// The other half of two variables may be in the run without being needed: where several threads
  /// do the same, no single one is.
  bool with_other_pairs() {
    std::vector<FoundPair> others;
    const auto& instances = failed_.instances;
    for (std::size_t i = instances.size(); i-- > 0 && others.size() < kMaxOtherPairs;) {
      FoundPair pair = found(instances[i]);
      const bool related =
          std::any_of(finding_.pairs.begin(), finding_.pairs.end(), [&](const FoundPair& it) {
            return it.suspicious &&
                   (it.first.thread == pair.second.thread || it.second.thread == pair.first.thread);
          });
      if (related && is_data(pair)) others.push_back(std::move(pair));
    }
    std::vector<const FoundPair*> pairs;
    for (const FoundPair& pair : finding_.pairs) {
      if (is_data(pair)) pairs.push_back(&pair);
    }
    const std::size_t own = suspicious_among(pairs);
    for (const FoundPair& pair : others) pairs.push_back(&pair);
    return two_variables(pairs, own, true) || two_variables(pairs, own, false);
  }

  /// Both orders of the step and what came between its accesses pass.
  bool both_orders_pass(const Region& step, const Point& between) {
    return orders_.passes_before(step.first.point, step.last.point, between) &&
           orders_.passes_before(between, between, step.first.point);
  }
  bool both_orders_pass(const Region& step, const Region& other) {
    return orders_.passes_before(step.first.point, step.last.point, other.first.point) &&
           orders_.passes_before(other.first.point, other.last.point, step.first.point);
  }

  /// Of which at least one pair is among the first `own`.
  static std::vector<Crossing> crossings(const std::vector<const FoundPair*>& pairs,
                                         std::size_t own) {
    std::vector<Crossing> result;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      for (std::size_t k = 0; k < pairs.size(); ++k) {
        if (i == k || (i >= own && k >= own)) continue;
        if (pairs[i]->first.thread == pairs[k]->second.thread) {
          result.push_back({pairs[i], pairs[k]});
        }
      }
    }
    return result;
  }

  /// Also where one access, freeing memory, is one to several variables.
  static bool on_one_variable(const Crossing& cross) {
    return cross.there->variable == cross.back->variable ||
           cross.there->second.point == cross.back->first.point;
  }

  bool crossed(const std::vector<const FoundPair*>& pairs, std::size_t own) {
    return one_variable(pairs, own, true) || two_variables(pairs, own, true) ||
           one_variable(pairs, own, false);
  }

  bool one_variable(const std::vector<const FoundPair*>& pairs, std::size_t own,
                    bool within_round) {
    for (const Crossing& cross : crossings(pairs, own)) {
      if (!on_one_variable(cross)) continue;
      const Region step{cross.there->first, cross.back->second};
      const FoundAccess& between = cross.back->first;
      if (position(step.first) > position(step.last) ||
          position(cross.there->second) > position(between) ||
          step.first.point.site == step.last.point.site || (within_round && !in_one_round(step))) {
        continue;
      }
      const auto shape = shape_of_step(step.first, between, step.last);
      if (shape && accept_step(step, between, *shape)) return true;
    }
    return false;
  }

  /// Whether a lock that all three are under makes one step of the two accesses already: in the
  /// failed run, or, if that did not come to all of them, in every passing one that did.
  bool is_one_step(const Region& step, const FoundAccess& between) const {
    if (const auto known = is_one_step(step, between, failed_)) return *known;
    bool is_known = false;
    for (const auto& run : orders_.passing()) {
      const auto here = is_one_step(step, between, *run);
      if (here && !*here) return false;
      is_known = is_known || here;
    }
    return is_known;
  }

  static std::optional<bool> is_one_step(const Region& step, const FoundAccess& between,
                                         const Observed& run) {
    const auto first = run.accesses.find(step.first.point);
    const auto last = run.accesses.find(step.last.point);
    const auto other = run.accesses.find(between.point);
    if (!first || !last || !other) return std::nullopt;
    const std::vector<Section> others = run.accesses.sections(*other);
    const std::vector<Section> own = run.accesses.sections(*first);
    return std::any_of(own.begin(), own.end(), [&](const Section& section) {
      return *last <= section.released &&
             std::any_of(others.begin(), others.end(), [&](const Section& it) {
               return it.lock == section.lock && it.offset == section.offset;
             });
    });
  }

  bool accept_step(const Region& step, const FoundAccess& between, unsigned shape) {
    if (is_one_step(step, between) || !both_orders_pass(step, between.point)) return false;
    finding_.bug_class = BugClass::AtomicityViolation;
    finding_.shape = shape;
    finding_.regions.push_back(step);
    return true;
  }

  FoundPair found(const PairInstance& instance) const {
    const trace::Event& event = failed_.attempt.trace.events[instance.second];
    FoundPair pair;
    pair.variable = trace::memory_name(failed_.attempt.trace, event.object, event.offset);
    pair.first = found_access(failed_, instance.first, failed_);
    pair.second = found_access(failed_, instance.second, failed_);
    return pair;
  }

  static bool touches(const Observed& run, std::size_t event, const FoundPair& pair) {
    const trace::Event& it = run.attempt.trace.events[event];
    return it.object != trace::kNone && run.accesses.role(event) != Role::None &&
           run.attempt.trace.objects[it.object].name == pair.object && it.offset <= pair.offset &&
           pair.offset < it.offset + run.accesses.bytes(event);
  }

  /// What the access's thread does to the pair's variable after or before it, until it comes back
  /// to the same place: a step seldom reaches into the next iteration (LOCON, 4.3).
  std::vector<FoundAccess> companions(const FoundAccess& access, const FoundPair& pair,
                                      bool after) const {
    std::vector<FoundAccess> result;
    const auto look_in = [&](const Observed& run) {
      const auto start = run.accesses.find(access.point);
      if (!start) return;
      const trace::ThreadId thread = run.accesses.owner(*start);
      const std::size_t end = run.attempt.trace.events.size();
      for (std::size_t i = *start; after ? ++i < end : i-- > 0;) {
        if (run.accesses.owner(i) != thread) continue;
        if (run.attempt.trace.events[i].site == run.attempt.trace.events[*start].site) return;
        if (!touches(run, i, pair)) continue;
        const FoundAccess other = found_access(run, i, failed_);
        const bool known = std::any_of(result.begin(), result.end(), [&](const FoundAccess& it) {
          return it.point == other.point;
        });
        if (!known) result.push_back(other);
      }
    };
    look_in(failed_);
    if (after) {
      for (const auto& run : orders_.passing()) look_in(*run);
    }
    return result;
  }

  /// One pair is enough for an atomicity violation when the run ended before the way back, or when
  /// it fails without it too.
  bool enclosing(const std::vector<const FoundPair*>& pairs) {
    for (const FoundPair* pair : pairs) {
      if (!pair->suspicious) continue;
      for (const FoundAccess& last : companions(pair->first, *pair, true)) {
        const auto shape = shape_of_step(pair->first, pair->second, last);
        if (shape && accept_step({pair->first, last}, pair->second, *shape)) return true;
      }
      for (const FoundAccess& first : companions(pair->second, *pair, false)) {
        const auto shape = shape_of_step(first, pair->first, pair->second);
        if (shape && accept_step({first, pair->second}, pair->first, *shape)) return true;
      }
    }
    return false;
  }

  bool two_variables(const std::vector<const FoundPair*>& pairs, std::size_t own,
                     bool of_known_shape) {
    for (const Crossing& cross : crossings(pairs, own)) {
      if (on_one_variable(cross)) continue;
      const Region step = region(cross.there->first, cross.back->second);
      const Region other = region(cross.there->second, cross.back->first);
      const auto shape = shape_of(cross);
      if (shape.has_value() != of_known_shape || !both_orders_pass(step, other)) continue;
      finding_.bug_class = BugClass::MultiVariableAtomicityViolation;
      finding_.shape = shape;
      finding_.regions.push_back(step);
      if (other.first.thread == other.last.thread && other.first.point != other.last.point) {
        finding_.regions.push_back(other);
      }
      return true;
    }
    return false;
  }

  static std::optional<unsigned> shape_of(const Crossing& cross) {
    const auto access = [](const FoundAccess& it, bool second, const FoundPair& pair) {
      return ShapeAccess{second, position(it), pair.variable, writes(it)};
    };
    return two_variable_shape({access(cross.there->first, false, *cross.there),
                               access(cross.back->second, false, *cross.back),
                               access(cross.there->second, true, *cross.there),
                               access(cross.back->first, true, *cross.back)});
  }

  bool loses_notification() const {
    const trace::Outcome& outcome = failed_.attempt.trace.outcome;
    return outcome.kind == trace::FailureKind::LostWakeup &&
           std::any_of(outcome.waits.begin(), outcome.waits.end(), [](const trace::Wait& wait) {
             return wait.kind == trace::EventKind::CondWait ||
                    wait.kind == trace::EventKind::CondWake ||
                    wait.kind == trace::EventKind::MutexLock;
           });
  }

  /// Whether a store of the class became visible after a later access of its own thread.
  bool reordered() const {
    const auto model = failed_.attempt.trace.header.options.find("memory_model");
    if (model == failed_.attempt.trace.header.options.end() || model->second == "sc") return false;
    return std::any_of(finding_.pairs.begin(), finding_.pairs.end(), [&](const FoundPair& pair) {
      return delayed(pair.first) || delayed(pair.second);
    });
  }

  bool delayed(const FoundAccess& access) const {
    const trace::Trace& trace = failed_.attempt.trace;
    if (!access.event) return access.point.thread.ends_with('~');
    const trace::Event& flush = trace.events[*access.event];
    if (flush.kind != trace::EventKind::Flush) return false;
    const trace::ThreadId owner = failed_.accesses.owner(*access.event);
    for (std::size_t i = *access.event; i-- > 0;) {
      const trace::Event& event = trace.events[i];
      if (failed_.accesses.owner(i) != owner || event.kind == trace::EventKind::Flush) continue;
      if (event.site == flush.site) return false;  // the store itself: nothing came in between
      if (event.object != trace::kNone) return true;
    }
    return false;
  }

  Finding& finding_;
  const Observed& failed_;
  SerialOrders& orders_;
};

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

void classify(Finding& finding, const Observed& failed, SerialOrders& orders) {
  if (!finding.pairs.empty()) Classifier(finding, failed, orders).run();
}

}  // namespace heddle::analysis
