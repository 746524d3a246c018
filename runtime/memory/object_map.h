// SPDX-License-Identifier: Apache-2.0
//
// Names memory: which object an address belongs to, in words that mean the same in every run. Adds
// an object to the channel the first time an event refers to it.
#pragma once

#include <link.h>

#include <cstdint>

#include "abi/channel.h"
#include "runtime/base/vector.h"
#include "runtime/memory/heap.h"
#include "runtime/record/recorder.h"

namespace heddle::runtime {

/// Where an address is. `object` as in abi::EventRecord. Two words: they are returned in registers.
struct Place {
  std::uint32_t object = 0;
  bool freed = false;  // a heap block that was released: using it is an error
  std::uint64_t offset = 0;
};
static_assert(sizeof(Place) == 16);

class ObjectMap {
 public:
  void begin_run(Recorder& recorder);
  [[gnu::always_inline]] Place place_of(std::uint64_t address) {
    const std::uint64_t granule = address / kGranule;
    const Known& known = known_[granule % kMostKnown];
    if (known.granule == granule) {
      return {known.object, false, known.distance * kGranule + address % kGranule};
    }
    return find_place(address);
  }

  /// Remembers who freed the block at `address`, for the report of a later use.
  void note_release(std::uint64_t address, abi::ThreadIndex thread, abi::SiteId site);
  /// The block is about to be released, or was: what is known of it holds no more.
  void forget(std::uint64_t start, std::uint64_t bytes);

 private:
  /// The writable and read-only data of one loaded file, or the first stack.
  struct Area {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t base;
    std::uint32_t object;  // 0: no event has named it yet
    std::uint32_t name;
    abi::ObjectKind kind;
  };

  /// Where a granule of a live heap block is, so that it need not be found again: it takes longer
  /// than all else that an access costs.
  struct Known {
    std::uint64_t granule = 0;  // its address / kGranule; 0: nothing is known
    std::uint32_t object = 0;
    std::uint32_t distance = 0;  // in granules, from the beginning of its block
  };
  static constexpr std::uint64_t kGranule = 16;  // no two blocks are in one
  static constexpr std::uint64_t kMostKnown = 256;

  Place find_place(std::uint64_t address);
  Place heap_place(std::uint64_t address);
  Place stack_place(std::uint64_t address);
  Place area_place(Area& area, std::uint64_t address);
  void read_areas();
  static int add_module(dl_phdr_info* info, std::size_t size, void* self);

  Recorder* recorder_ = nullptr;
  Vector<Area> areas_;
  std::uint32_t stack_objects_[abi::kMaxThreads] = {};
  std::uint32_t unknown_object_ = 0;
  Known known_[kMostKnown] = {};
};

}  // namespace heddle::runtime
