// SPDX-License-Identifier: Apache-2.0
//
// How often each thread has come to each site: what a schedule's "#4" counts.
#pragma once

#include <cstdint>

#include "abi/channel.h"
#include "runtime/base/vector.h"

namespace heddle::runtime {

class VisitCounter {
 public:
  void clear() {
    table_ = Table{};
    used_ = 0;
  }

  void add(std::uint64_t thread, abi::SiteId site) {
    if (used_ * 2 >= table_.size()) grow();
    Entry& entry = table_[slot(table_, thread, site)];
    if (entry.thread == 0) {
      entry = {thread, site, 0};
      ++used_;
    }
    ++entry.count;
  }

  std::uint32_t count(std::uint64_t thread, abi::SiteId site) const {
    return table_.empty() ? 0 : table_[slot(table_, thread, site)].count;
  }

 private:
  struct Entry {
    std::uint64_t thread;  // path hash; 0: free
    abi::SiteId site;
    std::uint32_t count;
  };
  using Table = Vector<Entry>;  // open addressing, a power of two, at most half full

  static std::size_t slot(const Table& table, std::uint64_t thread, abi::SiteId site) {
    const std::size_t mask = table.size() - 1;
    std::size_t i = static_cast<std::size_t>(abi::path_hash(thread, site)) & mask;
    while (table[i].thread != 0 && (table[i].thread != thread || table[i].site != site)) {
      i = (i + 1) & mask;
    }
    return i;
  }

  void grow() {
    const Table old = table_;
    table_ = Table{};
    table_.resize(old.empty() ? 1024 : old.size() * 2);
    for (const Entry& entry : old) {
      if (entry.thread != 0) table_[slot(table_, entry.thread, entry.site)] = entry;
    }
  }

  Table table_;
  std::size_t used_ = 0;
};

}  // namespace heddle::runtime
