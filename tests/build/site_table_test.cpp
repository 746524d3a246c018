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

// A table of two sites in a loop of main's second block, written out by hand.
std::string sample() {
  constexpr char kStrings[] = "\0main+1\0main\0/src/a.c\0f+2@main\0f\0puts\0";
  const std::string strings(kStrings, sizeof kStrings - 1);
  const auto at = [&](const char* text) {
    return static_cast<std::uint32_t>(strings.find(std::string(1, '\0') + text + '\0') + 1);
  };
  const abi::SiteTableHeader header{abi::kSiteMagic,
                                    abi::kSiteTableVersion,
                                    1,
                                    2,
                                    1,
                                    2,
                                    3,
                                    static_cast<std::uint32_t>(strings.size())};
  const abi::FunctionRecord functions[] = {{at("main"), 0}};
  const abi::BlockRecord blocks[] = {{1, 0}, {3, 1}};
  const abi::LoopRecord loops[] = {{0, 1, 0, 1}};
  const auto kind = [](abi::SiteKind k) { return static_cast<std::uint8_t>(k); };
  const auto sharing = [](abi::Sharing s) { return static_cast<std::uint8_t>(s); };
  const abi::SiteRecord sites[] = {
      {kind(abi::SiteKind::Load), sharing(abi::Sharing::Heap), 4, 1, 1, at("main+1"), 27, 0, 0, 2},
      {kind(abi::SiteKind::Call), sharing(abi::Sharing::NotAnAccess), 0, 2, 2, at("f+2@main"), 3,
       at("puts"), 1, 4}};
  const abi::FrameRecord frames[] = {{at("main"), at("/src/a.c"), 11, 3},
                                     {at("f"), at("/src/a.c"), 5, 1},
                                     {at("main"), at("/src/a.c"), 12, 9}};
  std::string bytes;
  const auto append = [&bytes](const auto& records) {
    bytes.append(reinterpret_cast<const char*>(&records), sizeof records);
  };
  append(header);
  append(functions);
  append(blocks);
  append(loops);
  append(sites);
  append(frames);
  return bytes + strings;
}
constexpr std::size_t kSitesAt = sizeof(abi::SiteTableHeader) + sizeof(abi::FunctionRecord) +
                                 2 * sizeof(abi::BlockRecord) + sizeof(abi::LoopRecord);

TEST(SiteTable, ReadsSitesAndFrames) {
  const SiteTable table = SiteTable::parse(sample(), "sample");
  ASSERT_EQ(table.size(), 2u);
  const auto load = table.find(abi::kFirstSite);
  ASSERT_TRUE(load);
  EXPECT_EQ(load->kind, abi::SiteKind::Load);
  EXPECT_EQ(load->sharing, abi::Sharing::Heap);
  EXPECT_EQ(load->bytes, 4u);
  EXPECT_EQ(load->key, "main+1.load.aabb");
  EXPECT_THAT(load->frames, ElementsAre(trace::Frame{"main", "/src/a.c", 11, 3}));
  EXPECT_EQ(load->symbol, "main");
  EXPECT_EQ(load->block, 0u);
  EXPECT_THAT(load->loops, testing::IsEmpty());
  const auto call = table.find(abi::kFirstSite + 1);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->callee, "puts");
  EXPECT_EQ(call->frames.size(), 2u);
  EXPECT_EQ(call->block, 1u);
  EXPECT_THAT(call->loops, ElementsAre(1u));
  EXPECT_EQ(table.loop(1)->frames.front().line, 11u);
  EXPECT_EQ(table.loop(2), std::nullopt);
  EXPECT_THAT(table.sites_of_instruction(4), ElementsAre(abi::kFirstSite + 1));
  EXPECT_THAT(table.sites_of_instruction(3), testing::IsEmpty());
  for (abi::SiteId none : {abi::kUnknownSite, abi::kThreadStartSite, abi::kFirstSite - 1,
                           abi::kFirstSite + 2, ~abi::SiteId{0}}) {
    EXPECT_EQ(table.find(none), std::nullopt);
  }
}

TEST(SiteTable, FindsWhatAKeyCanOnlyMean) {
  const SiteTable table = SiteTable::parse(sample(), "sample");
  const std::optional<abi::SiteId> load = abi::kFirstSite;
  const std::optional<abi::SiteId> call = abi::kFirstSite + 1;
  EXPECT_EQ(table.by_key("f+2@main.call.aaad.2"), call);
  EXPECT_EQ(table.by_key("main+1.load.aabb"), load);
  EXPECT_EQ(table.by_key("main+1.load.zzzz"), load) << "what is around it has changed";
  EXPECT_EQ(table.by_key("main+1.load.load"), load) << "a fingerprint that is a word";
  EXPECT_EQ(table.by_key("main+7.load.aabb"), load) << "its line has moved";
  EXPECT_EQ(table.by_key("f+9@main.call.aaad"), call);
  EXPECT_EQ(table.by_key("main+1.load.1"), load) << "the first load of the line";
  for (const char* gone :
       {"nowhere", "main+1.load.2", "main+1.load.0", "main+7.load.zzzz", "main+1.store.aabb",
        "f+2.call.aaad", "f+2@g.call.aaad", "", ".", "..", ".load.1", "main+1.load.99999999999"}) {
    EXPECT_EQ(table.by_key(gone), std::nullopt) << gone;
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
  std::memcpy(&twins[kSitesAt + sizeof(abi::SiteRecord)], &twins[kSitesAt],
              sizeof(abi::SiteRecord));
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
  for (abi::SiteId id = abi::kFirstSite; id < table.end(); ++id) {
    const SiteInfo info = *table.find(id);
    EXPECT_TRUE(keys.insert(info.key).second) << info.key;
    EXPECT_EQ(info.key.find(' '), std::string::npos) << info.key;
  }
}

TEST_F(SiteTableOfProgram, KeysSurviveAnEditAboveTheFunction) {
  const std::string function =
      "#include <thread>\nint v;\nint main() {\n  v = 2;\n"
      "  std::thread([] { ++v; }).join();\n  return v;\n}\n";
  write("a.cpp", function);
  write("b.cpp", "// a new line\nstatic int unused() { return 1; }\n" + function);
  must("$CXX -O1 -pthread a.cpp -o a && $CXX -O1 -pthread b.cpp -o b");
  const auto keys = [&](const char* program) {
    std::vector<std::string> all;
    const auto variant = build::derive_variant(source_ / program, build::Variant::Full);
    const SiteTable table = SiteTable::of_program(variant);
    for (abi::SiteId id = abi::kFirstSite; id < table.end(); ++id) {
      all.push_back(table.find(id)->key);
    }
    return all;
  };
  EXPECT_EQ(keys("a"), keys("b"));
  EXPECT_THAT(keys("a"), testing::Contains(testing::StartsWith("main+1.store.")));
}

TEST_F(SiteTableOfProgram, NativeProgramsHaveNone) {
  write("a.c", "int main(void) { return 0; }");
  must("$CC a.c -o a");
  expect_error(ExitCode::UserMistake, "no instrumented code",
               [&] { SiteTable::of_program(source_ / "a"); });
}

}  // namespace
}  // namespace heddle::ir
