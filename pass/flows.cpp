// SPDX-License-Identifier: Apache-2.0
#include "pass/flows.h"

#include <algorithm>

namespace heddle::pass {
namespace {

// A larger copy is not followed field by field.
constexpr std::uint64_t kLargestStructure = 4096;

}  // namespace

void Flows::move(Slot from, Slot to, As as, Distance distance) {
  if (from == Regions::kNone || to == Regions::kNone) return;
  (as == As::Pointer ? pointers_ : numbers_).push_back({from, to, distance});
}

void Flows::load(Slot pointer, Slot value, As as, std::uint64_t bytes) {
  if (pointer == Regions::kNone) return;
  accesses_.push_back({pointer, value, bytes, as, /*is_store=*/false});
}

void Flows::store(Slot value, Slot pointer, As as, std::uint64_t bytes) {
  if (value == Regions::kNone) return use(pointer);
  if (pointer == Regions::kNone) return;
  accesses_.push_back({pointer, value, bytes, as, /*is_store=*/true});
}

void Flows::use(Slot pointer) {
  if (pointer != Regions::kNone) uses_.push_back(pointer);
}

void Flows::copy_memory(Slot from, Slot to, std::uint64_t bytes) {
  if (from == Regions::kNone || to == Regions::kNone) return;
  copies_.push_back({from, to, bytes});
}

void Flows::settle() {
  for (std::uint64_t before = ~std::uint64_t{0}; before != regions_.changes();) {
    before = regions_.changes();
    apply_pointers();
    // What follows from pointers alone comes first: it is cheap.
    if (before == regions_.changes()) apply_numbers();
  }
}

void Flows::settle_unknown() {
  guesses_ = true;
  settle();
  guesses_ = false;
}

void Flows::apply_pointers() {
  round_.clear();
  for (const Move& move : pointers_) flow(move);
  for (const Access& access : accesses_) apply_access(access);
  for (const Copy& copy : copies_) apply_copy(copy);
}

void Flows::flow(const Move& move) {
  if (guesses_) {
    regions_.flow_both_ways(move.from, move.to, move.distance);
  } else {
    regions_.flow(move.from, move.to, move.distance);
  }
}

Regions::Cell Flows::pointee(Slot pointer) {
  return guesses_ ? regions_.make_pointee(pointer) : regions_.pointee(pointer);
}

void Flows::apply_access(const Access& access) {
  const Regions::Cell cell = pointee(access.pointer);
  if (!cell.is_known()) return;
  const Slot place =
      access.is_store ? regions_.written(cell, access.bytes) : regions_.read(cell, access.bytes);
  const Slot from = access.is_store ? access.value : place;
  const Slot to = access.is_store ? place : access.value;
  round_.push_back({from, to, {}});
  if (access.as == As::Pointer) flow(round_.back());
}

void Flows::apply_copy(const Copy& copy) {
  const Regions::Cell from = pointee(copy.from);
  const Regions::Cell to = pointee(copy.to);
  if (!from.is_known() || !to.is_known()) return;
  const bool is_exact =
      from.at.is_bounded() && from.at.span == 0 && to.at.is_bounded() && to.at.span == 0;
  if (!is_exact || copy.bytes == 0 || copy.bytes > kLargestStructure) {
    round_.push_back({regions_.out_of(from.region), regions_.into(to.region), {}});
    return;
  }
  // Whatever either side has as a field, the other has too; making one may move others.
  std::vector<std::pair<std::int64_t, std::uint64_t>> wanted;
  const auto collect = [&](Regions::Cell cell) {
    for (const auto& [offset, field] : regions_.fields(cell.region)) {
      // Of a field that goes on outside, what is inside: copied within one region it would grow
      // with each round.
      const std::int64_t begin = std::max<std::int64_t>(offset - cell.at.least, 0);
      const std::int64_t end =
          std::min(offset - cell.at.least + static_cast<std::int64_t>(field.bytes),
                   static_cast<std::int64_t>(copy.bytes));
      if (begin < end) wanted.emplace_back(begin, end - begin);
    }
  };
  collect(from);
  collect(to);
  for (const auto& [inside, bytes] : wanted) {
    const Slot source = regions_.read({from.region, {from.at.least + inside}}, bytes);
    const Slot target = regions_.written({to.region, {to.at.least + inside}}, bytes);
    round_.push_back({source, target, {}});
  }
}

void Flows::add_moves_within_regions() {
  for (Regions::Region region = 0; region < regions_.region_count(); ++region) {
    if (!regions_.is_root(region)) continue;
    const Slot into = regions_.into(region);
    const Slot out = regions_.out_of(region);
    round_.push_back({into, out, {}});
    for (const auto& [offset, field] : regions_.fields(region)) {
      round_.push_back({into, field.slot, {}});
      round_.push_back({field.slot, out, {}});
    }
  }
}

Flows::Graph Flows::graph(bool forward) {
  Graph graph;
  graph.begin.assign(regions_.slot_count() + 1, 0);
  const auto count = [&](const std::vector<Move>& moves) {
    for (const Move& move : moves) ++graph.begin[regions_.root(forward ? move.from : move.to) + 1];
  };
  for (const std::vector<Move>* moves : {&pointers_, &numbers_, &round_}) count(*moves);
  for (std::size_t i = 1; i < graph.begin.size(); ++i) graph.begin[i] += graph.begin[i - 1];
  graph.next.resize(graph.begin.back());
  std::vector<std::uint32_t> at = graph.begin;
  const auto fill = [&](const std::vector<Move>& moves) {
    for (const Move& move : moves) {
      const Slot from = regions_.root(forward ? move.from : move.to);
      graph.next[at[from]++] = regions_.root(forward ? move.to : move.from);
    }
  };
  for (const std::vector<Move>* moves : {&pointers_, &numbers_, &round_}) fill(*moves);
  return graph;
}

/// Which slots are pointers, or come after (before) one by way of numbers. `with_uses`: a pointer
/// is also what is accessed through, wherever it points.
std::vector<bool> Flows::reached(const Graph& graph, bool with_uses) {
  std::vector<bool> is_reached(regions_.slot_count());
  std::vector<Slot> waiting;
  const auto reach = [&](Slot slot) {
    if (is_reached[slot]) return;
    is_reached[slot] = true;
    waiting.push_back(slot);
  };
  for (Slot slot = 0; slot < regions_.slot_count(); ++slot) {
    if (regions_.root(slot) == slot && regions_.pointee(slot).is_known()) reach(slot);
  }
  if (with_uses) {
    for (const Access& access : accesses_) reach(regions_.root(access.pointer));
    for (const Slot pointer : uses_) reach(regions_.root(pointer));
    for (const Copy& copy : copies_) {
      reach(regions_.root(copy.from));
      reach(regions_.root(copy.to));
    }
  }
  while (!waiting.empty()) {
    const Slot slot = waiting.back();
    waiting.pop_back();
    for (std::uint32_t i = graph.begin[slot]; i < graph.begin[slot + 1]; ++i) {
      reach(graph.next[i]);
    }
  }
  return is_reached;
}

void Flows::apply_numbers() {
  add_moves_within_regions();
  const std::vector<bool> from_pointer = reached(graph(true), /*with_uses=*/false);
  const std::vector<bool> to_pointer = reached(graph(false), /*with_uses=*/true);
  const std::size_t known = from_pointer.size();
  const auto is_on_the_way = [&](Slot slot) {
    slot = regions_.root(slot);
    return slot < known && from_pointer[slot] && to_pointer[slot];
  };
  // Judged before anything is applied: what follows from this is for the next round.
  std::vector<Move> due;
  for (const std::vector<Move>* moves : {&numbers_, &round_}) {
    for (const Move& move : *moves) {
      if (is_on_the_way(move.from) && is_on_the_way(move.to)) due.push_back(move);
    }
  }
  for (const Move& move : due) regions_.flow(move.from, move.to, move.distance);
}

}  // namespace heddle::pass
