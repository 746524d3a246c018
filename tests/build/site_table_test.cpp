// SPDX-License-Identifier: Apache-2.0
#include "ir/site_table.h"

#include <fmt/format.h>

#include <cstring>
#include <set>

#include "driver/build/build.h"
#include "tests/build/workshop.h"

namespace heddle::ir {
namespace {

using build::expect_error;
using testing::ElementsAre;

// A table of two sites, written out by hand.
std::string sample() {
  constexpr char kStrings[] = "\0main+1.load.1\0main\0/src/a.c\0f+2@main.call.1\0f\0puts\0";
  const std::string strings(kStrings, sizeof kStrings - 1);
  const auto at = [&](const char* text) {
    return static_cast<std::uint32_t>(strings.find(std::string(1, '\0') + text + '\0') + 1);
  };
  const abi::SiteTableHeader header{
      abi::kSiteMagic, abi::kVersion, 2, 3, static_cast<std::uint32_t>(strings.size()), 0};
  const abi::SiteRecord sites[] = {
      {static_cast<std::uint16_t>(abi::SiteKind::Load), 4, at("main+1.load.1"), 0, 0, 1},
      {static_cast<std::uint16_t>(abi::SiteKind::Call), 0, at("f+2@main.call.1"), at("puts"), 1,
       2}};
  const abi::FrameRecord frames[] = {{at("main"), at("/src/a.c"), 11, 3},
                                     {at("f"), at("/src/a.c"), 5, 1},
                                     {at("main"), at("/src/a.c"), 12, 9}};
  std::string bytes;
  bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(sites), sizeof sites);
  bytes.append(reinterpret_cast<const char*>(frames), sizeof frames);
  return bytes + strings;
}

TEST(SiteTable, ReadsSitesAndFrames) {
  const SiteTable table = SiteTable::parse(sample(), "sample");
  ASSERT_EQ(table.all().size(), 2u);
  const SiteInfo* load = table.find(abi::kFirstSite);
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->kind, abi::SiteKind::Load);
  EXPECT_EQ(load->bytes, 4u);
  EXPECT_THAT(load->frames, ElementsAre(trace::Frame{"main", "/src/a.c", 11, 3}));
  const SiteInfo* call = table.find(abi::kFirstSite + 1);
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->callee, "puts");
  EXPECT_EQ(call->frames.size(), 2u);
  EXPECT_EQ(table.by_key("f+2@main.call.1"), abi::kFirstSite + 1);
  EXPECT_EQ(table.by_key("nowhere"), std::nullopt);
  for (abi::SiteId none : {abi::kUnknownSite, abi::kThreadStartSite, abi::kFirstSite - 1,
                           abi::kFirstSite + 2, ~abi::SiteId{0}}) {
    EXPECT_EQ(table.find(none), nullptr);
  }
}

TEST(SiteTable, EveryPrefixIsDamaged) {
  const std::string whole = sample();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(SiteTable::parse(whole.substr(0, size), "cut"), Error) << size;
  }
}

TEST(SiteTable, NoByteMakesItCrash) {
  const std::string whole = sample();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0, 1, 0x7f, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      try {
        SiteTable::parse(changed, "changed");
      } catch (const Error&) {
      }
    }
  }
}

TEST(SiteTable, TellsWhatIsWrong) {
  std::string bytes = sample();
  bytes[4] = 99;
  expect_error(ExitCode::UserMistake, "version 99", [&] { SiteTable::parse(bytes, "p"); });
  bytes[0] = 'X';
  expect_error(ExitCode::UserMistake, "magic", [&] { SiteTable::parse(bytes, "p"); });
  std::string twins = sample();
  // Both sites get the key of the first.
  std::memcpy(&twins[sizeof(abi::SiteTableHeader) + sizeof(abi::SiteRecord) + 4],
              &twins[sizeof(abi::SiteTableHeader) + 4], 4);
  expect_error(ExitCode::UserMistake, "two sites", [&] { SiteTable::parse(twins, "p"); });
}

class SiteTableOfProgram : public build::Workshop {};

TEST_F(SiteTableOfProgram, NamesTheSourceOfEverySite) {
  write("queue.cpp", R"(#include <cstdio>
namespace {
template <typename T>
struct Queue {
  void push(const T& value) {
    items[count] = value;
    ++count;
  }
  T items[10];
  int count;
};
Queue<int> queue;
}  // namespace
int main() {
  queue.push(1);
  std::puts("done");
  return queue.count;
}
)");
  must("$CXX -O2 queue.cpp -o queue");
  const SiteTable table =
      SiteTable::of_program(build::derive_variant(source_ / "queue", build::Variant::Full));
  const auto site = table.by_key("Queue::push+1@main.store.1");
  ASSERT_TRUE(site);
  EXPECT_THAT(table.find(*site)->frames,
              ElementsAre(testing::AllOf(testing::Field(&trace::Frame::function, "Queue::push"),
                                         testing::Field(&trace::Frame::line, 6u)),
                          testing::AllOf(testing::Field(&trace::Frame::function, "main"),
                                         testing::Field(&trace::Frame::line, 15u))));
  EXPECT_EQ(table.find(*site)->frames[0].file, (source_ / "queue.cpp").string());
  const auto call = table.by_key("main+2.call.1");
  ASSERT_TRUE(call);
  EXPECT_EQ(table.find(*call)->callee, "puts");
  std::set<std::string> keys;
  for (const SiteInfo& info : table.all()) {
    EXPECT_TRUE(keys.insert(info.key).second) << info.key;
    EXPECT_EQ(info.key.find(' '), std::string::npos) << info.key;
  }
}

TEST_F(SiteTableOfProgram, KeysSurviveAnEditAboveTheFunction) {
  const std::string function = "int v;\nint main() {\n  v = 2;\n  return v;\n}\n";
  write("a.cpp", function);
  write("b.cpp", "// a new line\nstatic int unused() { return 1; }\n" + function);
  must("$CXX -O1 a.cpp -o a && $CXX -O1 b.cpp -o b");
  const auto keys = [&](const char* program) {
    std::vector<std::string> all;
    const auto variant = build::derive_variant(source_ / program, build::Variant::Full);
    const SiteTable table = SiteTable::of_program(variant);
    for (const SiteInfo& info : table.all()) all.push_back(info.key);
    return all;
  };
  EXPECT_EQ(keys("a"), keys("b"));
  EXPECT_THAT(keys("a"), testing::Contains("main+1.store.1"));
}

TEST_F(SiteTableOfProgram, NativeProgramsHaveNone) {
  write("a.c", "int main(void) { return 0; }");
  must("$CC a.c -o a");
  expect_error(ExitCode::UserMistake, "no instrumented code",
               [&] { SiteTable::of_program(source_ / "a"); });
}

}  // namespace
}  // namespace heddle::ir
