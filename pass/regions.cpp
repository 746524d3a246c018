// SPDX-License-Identifier: Apache-2.0
#include "pass/regions.h"

#include <utility>

namespace heddle::pass {

Regions::Slot Regions::find_slot(Slot slot) {
  while (slots_[slot].parent != slot) {
    slots_[slot].parent = slots_[slots_[slot].parent].parent;
    slot = slots_[slot].parent;
  }
  return slot;
}

Regions::Region Regions::find_region(Region region) {
  while (regions_[region].parent != region) {
    regions_[region].parent = regions_[regions_[region].parent].parent;
    region = regions_[region].parent;
  }
  return region;
}

void Regions::merge(Slot a, Slot b) {
  pending_slots_.emplace_back(a, b);
  merge_pending();
}

void Regions::merge_regions(Region a, Region b) {
  pending_regions_.emplace_back(a, b);
  merge_pending();
}

void Regions::merge_pending() {
  while (!pending_slots_.empty() || !pending_regions_.empty()) {
    if (!pending_slots_.empty()) {
      auto [a, b] = pending_slots_.back();
      pending_slots_.pop_back();
      a = find_slot(a);
      b = find_slot(b);
      if (a == b) continue;
      slots_[b].parent = a;
      if (slots_[a].region == kNone) std::swap(slots_[a].region, slots_[b].region);
      if (slots_[b].region != kNone) {
        pending_regions_.emplace_back(slots_[a].region, slots_[b].region);
      }
    } else {
      auto [a, b] = pending_regions_.back();
      pending_regions_.pop_back();
      a = find_region(a);
      b = find_region(b);
      if (a == b) continue;
      regions_[b].parent = a;
      regions_[a].flags |= regions_[b].flags;
      if (regions_[a].contents == kNone) std::swap(regions_[a].contents, regions_[b].contents);
      if (regions_[b].contents != kNone) {
        pending_slots_.emplace_back(regions_[a].contents, regions_[b].contents);
      }
    }
  }
}

void Regions::point(Slot slot, Region region) {
  SlotNode& root = slots_[find_slot(slot)];
  if (root.region == kNone) {
    root.region = region;
  } else {
    merge_regions(root.region, region);
  }
}

Regions::Region Regions::pointee(Slot slot) {
  const Region region = slots_[find_slot(slot)].region;
  return region == kNone ? kNone : find_region(region);
}

Regions::Region Regions::make_pointee(Slot slot) {
  if (pointee(slot) == kNone) slots_[find_slot(slot)].region = new_region(0);
  return pointee(slot);
}

Regions::Slot Regions::contents(Region region) {
  region = find_region(region);
  if (regions_[region].contents == kNone) {
    const Slot slot = new_slot();
    regions_[region].contents = slot;
  }
  return regions_[region].contents;
}

void Regions::spread_sharing() {
  std::vector<Region> shared;
  for (Region region = 0; region < regions_.size(); ++region) {
    if (regions_[region].parent == region && (regions_[region].flags & kShared) != 0) {
      shared.push_back(region);
    }
  }
  while (!shared.empty()) {
    const Slot contents = regions_[shared.back()].contents;
    shared.pop_back();
    const Region inner = contents == kNone ? kNone : pointee(contents);
    if (inner == kNone || (regions_[inner].flags & kShared) != 0) continue;
    regions_[inner].flags |= kShared;
    shared.push_back(inner);
  }
}

}  // namespace heddle::pass
