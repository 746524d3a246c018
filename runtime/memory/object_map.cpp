// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/object_map.h"

#include "runtime/base/address_space.h"
#include "runtime/memory/stack_owner.h"

namespace heddle::runtime {

void ObjectMap::begin_run(Recorder& recorder) {
  recorder_ = &recorder;
  areas_.clear();
  for (Known& known : known_) known = {};
  read_areas();
}

int ObjectMap::add_module(dl_phdr_info* info, std::size_t, void* self) {
  auto& map = *static_cast<ObjectMap*>(self);
  std::uint32_t name = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) != 0) continue;
    const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    bool known = false;
    for (const Area& area : map.areas_) known = known || area.begin == begin;
    if (known) continue;
    if (name == 0) name = map.recorder_->add_text(info->dlpi_name);
    map.areas_.push_back(
        {begin, begin + segment.p_memsz, info->dlpi_addr, 0, name, abi::ObjectKind::Static});
  }
  return 0;
}

void ObjectMap::read_areas() {
  if (areas_.empty()) {
    areas_.push_back({first_stack_begin(), first_stack_end(), first_stack_begin(), 0, 0,
                      abi::ObjectKind::Stack});
  }
  dl_iterate_phdr(&add_module, this);
}

Place ObjectMap::find_place(std::uint64_t address) {
  if (in_heap(address)) return heap_place(address);
  if (address - kStackBase < abi::kMaxThreads * kStackSlot) return stack_place(address);
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (Area& area : areas_) {
      if (address - area.begin < area.end - area.begin) return area_place(area, address);
    }
    if (attempt == 0) read_areas();  // a library loaded since
  }
  if (unknown_object_ == 0) {
    unknown_object_ = recorder_->add_object({.kind = abi::ObjectKind::Unknown});
  }
  return {unknown_object_, false, address};
}

Place ObjectMap::area_place(Area& area, std::uint64_t address) {
  if (area.object == 0) {
    area.object = recorder_->add_object({.base = area.base,
                                         .size = area.end - area.base,
                                         .name = area.name,
                                         .thread = 0,
                                         .kind = area.kind});
  }
  return {area.object, false, address - area.base};
}

Place ObjectMap::heap_place(std::uint64_t address) {
  const HeapBlock block = find_heap_block(address);
  if (block.start == 0) {
    if (unknown_object_ == 0) {
      unknown_object_ = recorder_->add_object({.kind = abi::ObjectKind::Unknown});
    }
    return {unknown_object_, false, address};
  }
  HeapNote& note = *block.note;
  if (note.object == 0) {
    const bool is_threads = block.arena != kRuntimeArena;
    note.object = recorder_->add_object(
        {.base = block.start,
         .size = note.size,
         .site = note.site,
         .count = note.count,
         .thread = is_threads ? thread_slots().thread_in(block.arena) : kRuntimeArena,
         .kind = abi::ObjectKind::Heap});
  }
  if (note.freed == 0) {
    const std::uint64_t granule = address / kGranule;
    known_[granule % kMostKnown] = {granule, note.object,
                                    static_cast<std::uint32_t>(granule - block.start / kGranule)};
  }
  return {note.object, note.freed != 0, address - block.start};
}

void ObjectMap::forget(std::uint64_t start, std::uint64_t bytes) {
  const std::uint64_t first = start / kGranule;
  const std::uint64_t count = (bytes + kGranule - 1) / kGranule;
  for (std::uint64_t i = 0; i < count && i < kMostKnown; ++i) {
    Known& known = known_[(first + i) % kMostKnown];
    if (known.granule - first < count) known = {};
  }
}

Place ObjectMap::stack_place(std::uint64_t address) {
  const std::uint64_t slot = (address - kStackBase) / kStackSlot;
  const std::uint64_t base = kStackBase + slot * kStackSlot;
  if (stack_objects_[slot] == 0) {
    stack_objects_[slot] = recorder_->add_object({.base = base,
                                                  .size = kStackSlot,
                                                  .thread = thread_slots().thread_in(slot),
                                                  .kind = abi::ObjectKind::Stack});
  }
  return {stack_objects_[slot], false, address - base};
}

void ObjectMap::note_release(std::uint64_t address, abi::ThreadIndex thread, abi::SiteId site) {
  const HeapBlock block = find_heap_block(address);
  if (block.start == 0) return;
  heap_place(address);  // the allocation's own site and count are kept in its object from here on
  block.note->site = site;
  block.note->count = thread;
}

}  // namespace heddle::runtime
