// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/audit.h"

#include <cstring>

#include "runtime/base/system.h"

namespace heddle::runtime {
namespace {

enum State : std::uint8_t {
  kTouched = 1,
  kWritten = 2,
  kHooked = 4,     // by an instruction with a hook
  kLocal = 8,      // by one that has none, for nobody else has the address
  kReadOnly = 16,  // by one that has none, for nobody writes there
};

}  // namespace

// Its memory comes as zero bytes: nothing is known.
Audit::Page* Audit::find(std::uint64_t number, bool make) {
  if (buckets_ == nullptr) {
    if (!make) return nullptr;
    buckets_ = static_cast<Page**>(own_memory(kBuckets * sizeof(Page*)));
  }
  Page*& bucket = buckets_[(number ^ (number >> 12)) % kBuckets];
  for (Page* page = bucket; page != nullptr; page = page->next) {
    if (page->number == number) return page;
  }
  if (!make) return nullptr;
  auto* const page = static_cast<Page*>(own_memory(sizeof(Page)));
  page->number = number;
  page->next = bucket;
  bucket = page;
  return page;
}

/// False as soon as `visit` is.
template <typename Visit>
bool Audit::for_each(std::uint64_t address, std::uint64_t bytes, bool make, Visit visit) {
  while (bytes > 0) {
    const std::uint64_t first = address % kPageBytes;
    const std::uint64_t count = bytes < kPageBytes - first ? bytes : kPageBytes - first;
    if (Page* const page = find(address / kPageBytes, make)) {
      for (std::uint64_t i = first; i < first + count; ++i) {
        if (!visit(page->bytes[i])) return false;
      }
    }
    address += count;
    bytes -= count;
  }
  return true;
}

bool Audit::watched(const Access& access, bool is_call, Contradiction& found) {
  return for_each(access.address, access.bytes, true, [&](Byte& byte) {
    const bool is_others = byte.thread != access.thread;
    if (((byte.state & kLocal) != 0 && (is_others || !is_call)) ||
        ((byte.state & kReadOnly) != 0 && access.writes)) {
      found = {byte.site, byte.thread};
      return false;
    }
    const bool is_first = byte.state == 0;
    byte.state |= kTouched | (access.writes ? kWritten : 0) | (is_call ? 0 : kHooked);
    byte.thread = is_first || !is_others ? access.thread : abi::kNoThread;
    byte.site = access.site;
    return true;
  });
}

bool Audit::unwatched(const Access& access, abi::SharingVerdict verdict, Contradiction& found) {
  const bool is_local = verdict == abi::SharingVerdict::Local;
  return for_each(access.address, access.bytes, true, [&](Byte& byte) {
    const bool is_others = byte.state != 0 && byte.thread != access.thread;
    const bool is_wrong = is_local ? is_others || (byte.state & kHooked) != 0 ||
                                         ((byte.state & kReadOnly) != 0 && access.writes)
                                   : (byte.state & kWritten) != 0;
    if (is_wrong) {
      found = {byte.site, byte.thread};
      return false;
    }
    byte.state |= kTouched | (is_local ? kLocal : kReadOnly) | (access.writes ? kWritten : 0);
    byte.thread = is_others ? abi::kNoThread : access.thread;
    byte.site = access.site;
    return true;
  });
}

void Audit::forget(std::uint64_t address, std::uint64_t bytes) {
  for_each(address, bytes, false, [](Byte& byte) {
    byte = {};
    return true;
  });
}

}  // namespace heddle::runtime
