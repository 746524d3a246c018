// SPDX-License-Identifier: Apache-2.0
//
// Pieces of memory, grouped until every pointer points to one group only (Steensgaard, POPL 1996),
// with the fields of a group told apart as long as everybody agrees where they are (as in Lattner's
// data structure analysis, PLDI 2007).
//
// A Region is a group of objects that some pointer may not tell apart. A Slot is something that can
// hold pointers: an SSA value, a field of a region, or what is read from or written to a region at
// places that are not known. A slot points to at most one Cell: a region and a place in it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
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

  /// How far, in bytes: from `least` on, and not more than `span` further (an index into an array).
  struct Distance {
    std::int64_t least = 0;
    std::uint64_t span = 0;
    bool is_bounded() const { return span != UINT64_MAX; }
    bool operator==(const Distance&) const = default;
    bool contains(Distance other) const;
    Distance operator+(Distance more) const;
  };
  static constexpr Distance kAnywhere = {0, UINT64_MAX};

  /// Where a pointer may point, from a place of the region's own choice.
  struct Cell {
    Region region = kNone;  // kNone: nowhere that is known
    Distance at;
    bool is_known() const { return region != kNone; }
  };
  struct Field {
    std::uint64_t bytes;
    Slot slot;
  };
  using Fields = std::map<std::int64_t, Field>;  // by offset; they do not overlap

  Slot new_slot();
  Region new_region(unsigned flags);

  /// `to` may hold what `from` does, moved by `distance`.
  void flow(Slot from, Slot to, Distance distance);
  /// The same, and if nothing is known of `from` it points where `to` does.
  void flow_both_ways(Slot from, Slot to, Distance distance);
  void point(Slot slot, Cell cell);
  /// Its places are not told apart any more.
  void blur(Region region);

  Cell pointee(Slot slot);
  /// Makes one of unknown origin if there is none.
  Cell make_pointee(Slot slot);

  /// What `bytes` bytes at `cell` hold when they are read or written; 0: it is not known how many.
  Slot read(Cell cell, std::uint64_t bytes);
  Slot written(Cell cell, std::uint64_t bytes);

  /// All that may be written to a region flows to its fields, all that is in these to what is read.
  Slot into(Region region);
  Slot out_of(Region region);
  const Fields& fields(Region region) { return regions_[find(region)].fields; }

  unsigned flags(Region region) { return regions_[find(region)].flags; }
  void add_flags(Region region, unsigned flags) { regions_[find(region)].flags |= flags; }

  /// Functions are regions' members, named by numbers.
  void add_function(Region region, std::uint32_t function);
  const std::vector<std::uint32_t>& functions(Region region) {
    return regions_[find(region)].functions;
  }

  std::uint32_t slot_count() const { return static_cast<std::uint32_t>(slots_.size()); }
  std::uint32_t region_count() const { return static_cast<std::uint32_t>(regions_.size()); }
  bool is_root(Region region) const { return regions_[region].parent == region; }
  /// The one that stands for all it was merged with.
  Slot root(Slot slot);
  Region root_region(Region region) { return find(region); }

  /// Grows with everything that was learnt.
  std::uint64_t changes() const { return changes_; }

  /// What can be reached from shared memory is shared. To be called once, at the end.
  void spread_sharing();

 private:
  struct SlotNode {
    Slot parent;
    Cell cell;
  };
  struct RegionNode {
    Region parent;
    std::int64_t shift;  // an offset here is one of parent's after adding this
    unsigned flags;
    bool collapsed = false;  // places are not told apart: all is in `into`, which is `out_of`
    Slot into = kNone;
    Slot out_of = kNone;
    Fields fields;
    std::vector<std::uint32_t> functions;
  };

  Region find(Region region);
  Cell resolve(Cell cell);
  Slot field(Region root, std::int64_t offset, std::uint64_t bytes);
  void collapse(Region root);
  void merge_cells(Cell a, Cell b);
  void link(Region a, Region b, std::int64_t shift);
  void merge_slots(Slot a, Slot b) { pending_slots_.emplace_back(a, b); }
  void merge_pending();

  std::vector<SlotNode> slots_;
  std::vector<RegionNode> regions_;
  std::uint64_t changes_ = 0;
  // Merging slots merges what they point to, which merges fields and so on: chains as long as the
  // program's longest type.
  std::vector<std::pair<Slot, Slot>> pending_slots_;
};

}  // namespace heddle::pass
