// SPDX-License-Identifier: Apache-2.0
//
// Checks the sharing analysis while the program runs. For every byte: who accessed it, and whether
// the access had no hook because the analysis had proved that nobody else does (local), or that
// nobody writes (read-only). What belongs together begins and ends with a variable or allocation.
//
// Wrong is: a local byte that a second thread accesses, a local byte that another instruction
// accesses through a hook (under a store buffer the two would not see each other), and a write to
// a read-only byte.
#pragma once

#include <cstdint>

#include "abi/channel.h"
#include "abi/site_record.h"

namespace heddle::runtime {

class Audit {
 public:
  struct Access {
    std::uint64_t address;
    std::uint64_t bytes;
    abi::SiteId site;
    abi::ThreadIndex thread;
    bool writes;
  };
  /// The earlier access that does not go with the one that was asked about.
  struct Contradiction {
    abi::SiteId site;
    abi::ThreadIndex thread;
  };

  /// The program is of a variant that is audited.
  void begin() { active_ = true; }
  bool active() const { return active_; }

  /// An access with a hook. `is_call`: made inside a library for the thread, also to what is local.
  /// False: `found` says what it contradicts.
  bool watched(const Access& access, bool is_call, Contradiction& found);
  /// An access without, by `verdict`.
  bool unwatched(const Access& access, abi::SharingVerdict verdict, Contradiction& found);
  /// Another variable or allocation begins there.
  void forget(std::uint64_t address, std::uint64_t bytes);

 private:
  struct Byte {
    abi::SiteId site;         // of the last access
    abi::ThreadIndex thread;  // of all of them, or kNoThread: of several
    std::uint8_t state;
  };
  static constexpr std::uint64_t kPageBytes = 4096;
  struct Page {
    std::uint64_t number;
    Page* next;
    Byte bytes[kPageBytes];
  };

  /// Null if nothing is known of the page and it is not to be made.
  Page* find(std::uint64_t number, bool make);
  template <typename Visit>
  bool for_each(std::uint64_t address, std::uint64_t bytes, bool make, Visit visit);

  static constexpr std::uint64_t kBuckets = 4096;
  bool active_ = false;
  Page** buckets_ = nullptr;
};

}  // namespace heddle::runtime
