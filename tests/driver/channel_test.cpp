// SPDX-License-Identifier: Apache-2.0
#include "driver/channel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/error.h"

namespace heddle::driver {
namespace {

TEST(Channel, RegionsDoNotOverlap) {
  const Channel channel(1000);
  const abi::ChannelHeader& header = channel.header();
  struct Extent {
    std::uint64_t begin;
    std::uint64_t end;
  };
  const Extent extents[] = {
      {0, sizeof(abi::ChannelHeader)},
      {header.plan.offset, header.plan.offset + header.plan.capacity * sizeof(abi::PlanRecord)},
      {header.events.offset,
       header.events.offset + header.events.capacity * sizeof(abi::EventRecord)},
      {header.decisions.offset,
       header.decisions.offset + header.decisions.capacity * sizeof(abi::DecisionRecord)},
      {header.threads.offset,
       header.threads.offset + header.threads.capacity * sizeof(abi::ThreadRecord)},
      {header.objects.offset,
       header.objects.offset + header.objects.capacity * sizeof(abi::ObjectRecord)},
      {header.text.offset, header.text.offset + header.text.capacity}};
  for (std::size_t i = 0; i < std::size(extents); ++i) {
    EXPECT_LE(extents[i].end, header.bytes);
    for (std::size_t k = 0; k < i; ++k) {
      EXPECT_TRUE(extents[i].begin >= extents[k].end || extents[k].begin >= extents[i].end);
    }
  }
}

// The target owns these counts, and it may be a program that overwrites anything.
TEST(Channel, ViewsStayInsideWhateverTheCountsSay) {
  Channel channel(1000);
  channel.header().events.count = ~std::uint64_t{0};
  channel.header().objects.count = 1'000'000'000;
  EXPECT_EQ(channel.events().size(), channel.header().events.capacity);
  EXPECT_EQ(channel.objects().size(), channel.header().objects.capacity);
  channel.header().text.count = ~std::uint64_t{0};
  EXPECT_EQ(channel.text_at(0xffffffff), "");
  char* const text = reinterpret_cast<char*>(&channel.header()) + channel.header().text.offset;
  std::memset(text, 'x', channel.header().text.capacity);
  EXPECT_EQ(channel.text_at(3).size(), channel.header().text.capacity - 3);
}

TEST(Channel, PlansThatDoNotFitAreRefused) {
  Channel channel(10);
  const std::vector<abi::PlanRecord> plan(channel.header().plan.capacity + 1);
  EXPECT_THROW(channel.set_plan(plan), Error);
  channel.set_plan({plan.data(), 3});
  EXPECT_EQ(channel.plan().size(), 3u);
}

}  // namespace
}  // namespace heddle::driver
