// SPDX-License-Identifier: Apache-2.0
#include "pass/regions.h"

#include <algorithm>

namespace heddle::pass {

bool Regions::Distance::contains(Distance other) const {
  if (!is_bounded()) return true;
  if (!other.is_bounded() || other.least < least) return false;
  return static_cast<std::uint64_t>(other.least - least) + other.span <= span;
}

Regions::Distance Regions::Distance::operator+(Distance more) const {
  if (!is_bounded() || !more.is_bounded()) return kAnywhere;
  // An index may be that of the end, if it is not what is accessed: going back from there leads to
  // the last element.
  const bool goes_back = span > 0 && more.least < 0;
  const auto behind = goes_back ? static_cast<std::uint64_t>(-more.least) : 0;
  return {least + more.least, span + more.span + behind};
}

namespace {

/// Of two cells that merge_cells() has laid over each other.
Regions::Distance joined(Regions::Distance a, Regions::Distance b) {
  if (!a.is_bounded() || !b.is_bounded()) return Regions::kAnywhere;
  return {a.least, std::max(a.span, b.span)};
}

}  // namespace

Regions::Slot Regions::new_slot() {
  slots_.push_back({slot_count(), {}});
  return slot_count() - 1;
}

Regions::Region Regions::new_region(unsigned flags) {
  RegionNode& node = regions_.emplace_back();
  node.parent = region_count() - 1;
  node.shift = 0;
  node.flags = flags;
  return region_count() - 1;
}

Regions::Slot Regions::root(Slot slot) {
  while (slots_[slot].parent != slot) {
    slots_[slot].parent = slots_[slots_[slot].parent].parent;
    slot = slots_[slot].parent;
  }
  return slot;
}

Regions::Region Regions::find(Region region) {
  while (regions_[region].parent != region) {
    RegionNode& node = regions_[region];
    const RegionNode& parent = regions_[node.parent];
    if (parent.parent != node.parent) {
      node.shift += parent.shift;
      node.parent = parent.parent;
    }
    region = node.parent;
  }
  return region;
}

Regions::Cell Regions::resolve(Cell cell) {
  if (!cell.is_known()) return cell;
  find(cell.region);  // shortens the way
  while (regions_[cell.region].parent != cell.region) {
    if (cell.at.is_bounded()) cell.at.least += regions_[cell.region].shift;
    cell.region = regions_[cell.region].parent;
  }
  if (regions_[cell.region].collapsed) cell.at = kAnywhere;
  return cell;
}

Regions::Cell Regions::pointee(Slot slot) {
  Cell& cell = slots_[root(slot)].cell;
  cell = resolve(cell);
  return cell;
}

Regions::Cell Regions::make_pointee(Slot slot) {
  if (!pointee(slot).is_known()) point(slot, {new_region(0), {}});
  return pointee(slot);
}

void Regions::point(Slot slot, Cell cell) {
  const Slot self = root(slot);
  const Cell known = pointee(self);
  cell = resolve(cell);
  if (!known.is_known()) {
    slots_[self].cell = cell;
    ++changes_;
    return;
  }
  if (known.region == cell.region) {
    if (known.at.contains(cell.at)) return;
    slots_[self].cell.at = kAnywhere;
    ++changes_;
    return;
  }
  merge_cells(known, cell);
  slots_[self].cell.at = joined(known.at, cell.at);
  slots_[self].cell = resolve(slots_[self].cell);
  merge_pending();
}

void Regions::flow(Slot from, Slot to, Distance distance) {
  const Cell source = pointee(from);
  if (source.is_known()) point(to, {source.region, source.at + distance});
}

void Regions::flow_both_ways(Slot from, Slot to, Distance distance) {
  const Cell target = pointee(to);
  if (!pointee(from).is_known() && target.is_known()) {
    const bool is_bounded = target.at.is_bounded() && distance.is_bounded();
    point(from,
          {target.region, is_bounded ? Distance{target.at.least - distance.least} : kAnywhere});
  }
  flow(from, to, distance);
}

void Regions::blur(Region region) {
  collapse(find(region));
  merge_pending();
}

/// Two different regions turn out to be one. How one is laid over the other is a free choice:
/// places in both stay known.
void Regions::merge_cells(Cell a, Cell b) {
  if (regions_[a.region].collapsed || regions_[b.region].collapsed) {
    collapse(a.region);
    collapse(b.region);
  }
  const bool are_bounded = a.at.is_bounded() && b.at.is_bounded();
  link(a.region, b.region, are_bounded ? a.at.least - b.at.least : 0);
}

void Regions::link(Region a, Region b, std::int64_t shift) {
  // The one with fewer fields moves.
  if (regions_[a].fields.size() < regions_[b].fields.size()) {
    std::swap(a, b);
    shift = -shift;
  }
  ++changes_;
  RegionNode& into = regions_[a];
  RegionNode& from = regions_[b];
  from.parent = a;
  from.shift = shift;
  into.flags |= from.flags;
  into.functions.insert(into.functions.end(), from.functions.begin(), from.functions.end());
  from.functions = {};
  const Fields moving = std::move(from.fields);
  from.fields = {};
  for (const auto& [offset, field_of_b] : moving) {
    merge_slots(field(a, offset + shift, field_of_b.bytes), field_of_b.slot);
  }
  for (Slot RegionNode::* all : {&RegionNode::into, &RegionNode::out_of}) {
    const Slot ours = regions_[a].*all;
    const Slot theirs = regions_[b].*all;
    if (ours == kNone) {
      regions_[a].*all = theirs;
    } else if (theirs != kNone) {
      merge_slots(ours, theirs);
    }
  }
}

void Regions::collapse(Region root) {
  if (regions_[root].collapsed) return;
  ++changes_;
  const Slot all = into(root);
  if (regions_[root].out_of != kNone) merge_slots(all, regions_[root].out_of);
  for (const auto& [offset, field] : regions_[root].fields) merge_slots(all, field.slot);
  regions_[root].fields.clear();
  regions_[root].out_of = all;
  regions_[root].collapsed = true;
}

void Regions::merge_pending() {
  while (!pending_slots_.empty()) {
    auto [a, b] = pending_slots_.back();
    pending_slots_.pop_back();
    a = root(a);
    b = root(b);
    if (a == b) continue;
    ++changes_;
    const Cell first = pointee(a);
    const Cell second = pointee(b);
    slots_[b].parent = a;
    if (!first.is_known()) {
      slots_[a].cell = second;
    } else if (second.is_known() && first.region != second.region) {
      merge_cells(first, second);
      slots_[a].cell.at = joined(first.at, second.at);
    } else if (second.is_known() && !first.at.contains(second.at)) {
      slots_[a].cell.at = kAnywhere;
    }
  }
}

/// Fields that an access covers together become one.
Regions::Slot Regions::field(Region root, std::int64_t offset, std::uint64_t bytes) {
  Fields& fields = regions_[root].fields;
  std::int64_t begin = offset;
  std::int64_t end = offset + static_cast<std::int64_t>(bytes);
  auto first = fields.upper_bound(offset);
  if (first != fields.begin()) {
    const auto before = std::prev(first);
    if (before->first + static_cast<std::int64_t>(before->second.bytes) > offset) first = before;
  }
  Slot slot = kNone;
  auto last = first;
  for (; last != fields.end() && last->first < end; ++last) {
    begin = std::min(begin, last->first);
    end = std::max(end, last->first + static_cast<std::int64_t>(last->second.bytes));
    if (slot == kNone) {
      slot = last->second.slot;
    } else {
      merge_slots(slot, last->second.slot);
    }
  }
  const auto size = static_cast<std::uint64_t>(end - begin);
  if (slot != kNone && first->first == begin && first->second.bytes == size) return slot;
  ++changes_;
  if (slot == kNone) slot = new_slot();
  fields.erase(first, last);
  fields.emplace(begin, Field{size, slot});
  return slot;
}

Regions::Slot Regions::into(Region region) {
  const Region root = find(region);
  if (regions_[root].into == kNone) {
    const Slot slot = new_slot();
    regions_[root].into = slot;
  }
  return regions_[root].into;
}

Regions::Slot Regions::out_of(Region region) {
  const Region root = find(region);
  if (regions_[root].out_of == kNone) {
    const Slot slot = new_slot();
    regions_[root].out_of = slot;
  }
  return regions_[root].out_of;
}

Regions::Slot Regions::read(Cell cell, std::uint64_t bytes) {
  cell = resolve(cell);
  if (!cell.at.is_bounded() || bytes == 0) return out_of(cell.region);
  const Slot slot = field(cell.region, cell.at.least, cell.at.span + bytes);
  merge_pending();
  return slot;
}

Regions::Slot Regions::written(Cell cell, std::uint64_t bytes) {
  cell = resolve(cell);
  if (!cell.at.is_bounded() || bytes == 0) return into(cell.region);
  const Slot slot = field(cell.region, cell.at.least, cell.at.span + bytes);
  merge_pending();
  return slot;
}

void Regions::add_function(Region region, std::uint32_t function) {
  regions_[find(region)].functions.push_back(function);
}

void Regions::spread_sharing() {
  std::vector<Region> shared;
  for (Region region = 0; region < regions_.size(); ++region) {
    if (is_root(region) && (regions_[region].flags & kShared) != 0) shared.push_back(region);
  }
  const auto share = [&](Slot contents) {
    const Region inner = contents == kNone ? kNone : pointee(contents).region;
    if (inner == kNone || (regions_[inner].flags & kShared) != 0) return;
    regions_[inner].flags |= kShared;
    shared.push_back(inner);
  };
  while (!shared.empty()) {
    const RegionNode& region = regions_[shared.back()];
    shared.pop_back();
    share(region.into);
    share(region.out_of);
    for (const auto& [offset, field] : region.fields) share(field.slot);
  }
}

}  // namespace heddle::pass
