// SPDX-License-Identifier: Apache-2.0
//
// Pieces of memory, grouped until every pointer points to one group only (Steensgaard, POPL 1996).
//
// A Region is a group of objects that some pointer may not tell apart. A Slot is something that can
// hold pointers: an SSA value, or all that is stored in a region. A slot points to at most one
// region; whoever copies from one slot to another merges them. Fields are not told apart.
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::pass {

class Regions {
 public:
  using Slot = std::uint32_t;
  using Region = std::uint32_t;
  static constexpr std::uint32_t kNone = 0xffffffff;

  enum Flag : std::uint8_t {
    kStack = 1,    // holds local variables
    kHeap = 2,     // holds allocations
    kTls = 4,      // holds thread-local variables
    kShared = 8,   // every thread may have its address
    kStatic = 16,  // holds variables that every thread sees
    kWritten = 32  // something may write to it after the program has started
  };

  Slot new_slot() {
    slots_.push_back({static_cast<Slot>(slots_.size()), kNone});
    return static_cast<Slot>(slots_.size() - 1);
  }
  Region new_region(unsigned flags) {
    regions_.push_back({static_cast<Region>(regions_.size()), kNone, flags});
    return static_cast<Region>(regions_.size() - 1);
  }

  void merge(Slot a, Slot b);
  void merge_regions(Region a, Region b);
  void point(Slot slot, Region region);

  /// kNone if nothing is known that it could point to.
  Region pointee(Slot slot);
  /// Makes one of unknown origin if there is none.
  Region make_pointee(Slot slot);
  Slot contents(Region region);

  unsigned flags(Region region) { return regions_[find_region(region)].flags; }
  void add_flags(Region region, unsigned flags) { regions_[find_region(region)].flags |= flags; }

  /// What can be reached from shared memory is shared. To be called once, at the end.
  void spread_sharing();

 private:
  struct SlotNode {
    Slot parent;
    Region region;
  };
  struct RegionNode {
    Region parent;
    Slot contents;
    unsigned flags;
  };

  Slot find_slot(Slot slot);
  Region find_region(Region region);
  void merge_pending();

  std::vector<SlotNode> slots_;
  std::vector<RegionNode> regions_;
  // Merging slots merges their regions, which merges their contents and so on: chains as long as
  // the program's longest type.
  std::vector<std::pair<Slot, Slot>> pending_slots_;
  std::vector<std::pair<Region, Region>> pending_regions_;
};

}  // namespace heddle::pass
