// SPDX-License-Identifier: Apache-2.0
#include "driver/search/races.h"

#include <gtest/gtest.h>

#include <set>

#include "append.h"

namespace heddle::driver {
namespace {

using abi::EventKind;

/// Two threads that both exist from the start, two allocations, and what is done to them.
class History {
 public:
  History() : channel_(1000) {
    append(channel_, channel_.header().threads, abi::ThreadRecord{11, 0, abi::kNoThread, 0});
    append(channel_, channel_.header().threads, abi::ThreadRecord{12, 1, 0, 0});
    for (std::uint32_t count : {1u, 2u}) {
      abi::ObjectRecord object;
      object.kind = abi::ObjectKind::Heap;
      object.count = count;
      object.size = 1 << 16;
      append(channel_, channel_.header().objects, object);
    }
  }

  /// At a site of its own, which is returned.
  abi::SiteId add(abi::ThreadIndex thread, EventKind kind, std::uint64_t offset = 0,
                  std::uint32_t size = 8, std::uint32_t object = 1) {
    append(channel_, channel_.header().events,
           abi::EventRecord{kind, thread, next_, object, size, offset, 0, 0});
    return next_++;
  }

  std::set<abi::SiteId> raced() {
    races_.learn(channel_);
    std::set<abi::SiteId> sites;
    for (abi::SiteId site = abi::kFirstSite; site < next_; ++site) {
      if (races_.raced(site)) sites.insert(site);
    }
    return sites;
  }
  std::vector<abi::SiteId> quiet() const { return races_.quiet_sites(); }

 private:
  Channel channel_;
  Races races_;
  abi::SiteId next_ = abi::kFirstSite;
};

constexpr std::uint64_t kLock = 4096;  // its offset in the second allocation

void lock(History& history, abi::ThreadIndex thread) {
  history.add(thread, EventKind::MutexLock, kLock, 0, 2);
}
void unlock(History& history, abi::ThreadIndex thread) {
  history.add(thread, EventKind::MutexUnlock, kLock, 0, 2);
}

TEST(Races, AreBetweenThreadsWhenOneWritesAndNothingOrdersThem) {
  History history;
  const auto write = history.add(0, EventKind::Store, 0);
  const auto again = history.add(0, EventKind::Store, 0);
  const auto read = history.add(1, EventKind::Load, 4, 4);  // the same unit
  history.add(1, EventKind::Load, 8);
  history.add(0, EventKind::Load, 8);
  EXPECT_EQ(history.raced(), (std::set{write, again, read}));
  EXPECT_EQ(history.quiet().size(), 2u);
}

TEST(Races, AreNoneUnderALock) {
  History history;
  lock(history, 0);
  history.add(0, EventKind::Store);
  unlock(history, 0);
  lock(history, 1);
  history.add(1, EventKind::Store);
  unlock(history, 1);
  const auto outside = history.add(1, EventKind::Store);
  lock(history, 0);
  const auto inside = history.add(0, EventKind::Load);
  EXPECT_EQ(history.raced(), (std::set{outside, inside}));
}

TEST(Races, AreAlsoWithFreesAtomicsAndLongRanges) {
  History freed;
  const auto use = freed.add(0, EventKind::Load, 64);
  freed.add(1, EventKind::HeapFree, 0, 0);
  EXPECT_EQ(freed.raced(), std::set{use});

  History mixed;
  mixed.add(0, EventKind::AtomicStore);
  const auto plain = mixed.add(1, EventKind::Load);
  EXPECT_EQ(mixed.raced(), std::set{plain});

  History copied;
  const auto first = copied.add(0, EventKind::Load, 2000);
  const auto copy = copied.add(1, EventKind::RangeWrite, 1000, 4000);
  copied.add(0, EventKind::Load, 8000);
  const auto last = copied.add(0, EventKind::Load, 3000);
  EXPECT_EQ(copied.raced(), (std::set{first, copy, last}));
}

}  // namespace
}  // namespace heddle::driver
