// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/store_buffer.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::runtime {
namespace {

constexpr std::uint64_t kX = 0x1000;
constexpr std::uint64_t kY = 0x2000;
constexpr std::uint64_t kZ = 0x3000;

PendingStore store(std::uint64_t address, std::uint64_t value, std::uint8_t bytes = 4,
                   bool release = false) {
  return {address, value, abi::kUnknownSite, bytes, release};
}

std::vector<std::uint64_t> leaving(const StoreBuffer& buffer, FlushOrder order) {
  std::vector<std::uint64_t> addresses;
  for (std::uint32_t i = 0; i < buffer.choices(order); ++i) {
    addresses.push_back(buffer.choice(order, i).address);
  }
  return addresses;
}

using Addresses = std::vector<std::uint64_t>;

TEST(StoreBuffer, AsStoredOnlyTheOldestLeaves) {
  StoreBuffer buffer;
  buffer.push(store(kX, 1));
  buffer.push(store(kY, 2));
  EXPECT_EQ(leaving(buffer, FlushOrder::AsStored), Addresses{kX});
  EXPECT_EQ(buffer.take(FlushOrder::AsStored, 0).value, 1u);
  EXPECT_EQ(buffer.take(FlushOrder::AsStored, 0).value, 2u);
  EXPECT_EQ(buffer.size(), 0u);
}

TEST(StoreBuffer, PerLocationTheOldestOfEachLeaves) {
  StoreBuffer buffer;
  buffer.push(store(kX, 1));
  buffer.push(store(kX, 2));
  buffer.push(store(kY, 3));
  EXPECT_EQ(leaving(buffer, FlushOrder::PerLocation), (Addresses{kX, kY}));
  EXPECT_EQ(buffer.take(FlushOrder::PerLocation, 1).value, 3u);
  EXPECT_EQ(buffer.take(FlushOrder::PerLocation, 0).value, 1u);
  EXPECT_EQ(buffer.take(FlushOrder::PerLocation, 0).value, 2u);
}

TEST(StoreBuffer, PartlyOverlappingStoresKeepTheirOrder) {
  StoreBuffer buffer;
  buffer.push(store(kX, 1, 4));
  buffer.push(store(kX + 3, 2, 1));
  buffer.push(store(kX + 4, 3, 4));
  EXPECT_EQ(leaving(buffer, FlushOrder::PerLocation), (Addresses{kX, kX + 4}));
}

TEST(StoreBuffer, AReleaseStoreLeavesAfterEverythingBeforeIt) {
  StoreBuffer buffer;
  buffer.push(store(kX, 1));
  buffer.push(store(kY, 2, 4, true));
  buffer.push(store(kZ, 3));
  EXPECT_EQ(leaving(buffer, FlushOrder::PerLocation), (Addresses{kX, kZ}));
  buffer.take(FlushOrder::PerLocation, 0);
  EXPECT_EQ(leaving(buffer, FlushOrder::PerLocation), (Addresses{kY, kZ}));
}

TEST(StoreBuffer, AReleaseFenceKeepsLaterStoresBehind) {
  StoreBuffer buffer;
  buffer.push(store(kX, 1));
  buffer.order();
  buffer.push(store(kY, 2));
  buffer.push(store(kZ, 3));
  EXPECT_EQ(leaving(buffer, FlushOrder::PerLocation), Addresses{kX});
  buffer.take(FlushOrder::PerLocation, 0);
  EXPECT_EQ(leaving(buffer, FlushOrder::PerLocation), (Addresses{kY, kZ}));
}

TEST(StoreBuffer, ForwardsTheYoungestStore) {
  StoreBuffer buffer;
  buffer.push(store(kX, 1));
  buffer.push(store(kX, 2));
  std::uint64_t value = 0;
  EXPECT_EQ(buffer.find(kX, 4, value), StoreBuffer::Forwarding::Whole);
  EXPECT_EQ(value, 2u);
  EXPECT_EQ(buffer.find(kY, 4, value), StoreBuffer::Forwarding::None);
}

TEST(StoreBuffer, ForwardsAPartOfAWiderStore) {
  StoreBuffer buffer;
  buffer.push(store(kX, 0x8877665544332211, 8));
  std::uint64_t value = 0;
  EXPECT_EQ(buffer.find(kX + 2, 2, value), StoreBuffer::Forwarding::Whole);
  EXPECT_EQ(value, 0x4433u);
  EXPECT_EQ(buffer.find(kX, 8, value), StoreBuffer::Forwarding::Whole);
  EXPECT_EQ(value, 0x8877665544332211u);
}

TEST(StoreBuffer, DoesNotPieceALoadTogether) {
  StoreBuffer buffer;
  buffer.push(store(kX, 1, 4));
  buffer.push(store(kX + 4, 2, 4));
  std::uint64_t value = 0;
  EXPECT_EQ(buffer.find(kX, 8, value), StoreBuffer::Forwarding::Partial);
  EXPECT_EQ(buffer.find(kX + 2, 4, value), StoreBuffer::Forwarding::Partial);
}

TEST(StoreBuffer, AYoungerNarrowStoreHidesAnOlderWideOne) {
  StoreBuffer buffer;
  buffer.push(store(kX, 1, 8));
  buffer.push(store(kX, 2, 1));
  std::uint64_t value = 0;
  EXPECT_EQ(buffer.find(kX, 8, value), StoreBuffer::Forwarding::Partial);
  EXPECT_EQ(buffer.find(kX + 1, 1, value), StoreBuffer::Forwarding::Whole);
  EXPECT_EQ(value, 0u);
}

TEST(StoreBuffer, IsFullAtItsCapacity) {
  StoreBuffer buffer;
  for (std::uint32_t i = 0; i < StoreBuffer::kCapacity; ++i) {
    EXPECT_FALSE(buffer.full());
    buffer.push(store(kX + 8 * i, i));
  }
  EXPECT_TRUE(buffer.full());
  EXPECT_EQ(buffer.choices(FlushOrder::PerLocation), StoreBuffer::kCapacity);
}

}  // namespace
}  // namespace heddle::runtime
