// SPDX-License-Identifier: Apache-2.0
#include "store/run_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.h"

namespace heddle::store {
namespace {

using sample::error_of;
using testing::HasSubstr;

TEST(RunJson, KeepsAnyBytes) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes.push_back(static_cast<char>(c));
  RunInputs inputs{{bytes, "plain", ""}, {"A=" + bytes}, "/tmp/\xff", bytes, std::nullopt, ""};
  EXPECT_EQ(inputs_from_json(to_json(inputs), "x"), inputs);
  inputs.standard_input = "";
  EXPECT_EQ(inputs_from_json(to_json(inputs), "x"), inputs);
  inputs.standard_input.reset();
  EXPECT_EQ(inputs_from_json(to_json(inputs), "x"), inputs);
}

TEST(RunJson, IsReadableWhereItCanBe) {
  EXPECT_THAT(to_json(RunInputs{
                  {"./a", "gr\xc3\xbc\xc3\x9f"}, {}, "/home", std::nullopt, std::nullopt, ""}),
              HasSubstr("\"gr\xc3\xbc\xc3\x9f\""));
}

TEST(RunJson, NamesTheFileThatIsDamaged) {
  for (const char* text : {"", "[]", "{\"argv\": 3}", "{\"argv\": [{\"bytes\": \"zz\"}]}"})
    EXPECT_THAT(error_of([&] { inputs_from_json(text, "r1/inputs"); }),
                HasSubstr("r1/inputs: damaged file of a run"))
        << text;
  std::string summary = to_json(RunSummary{});
  EXPECT_EQ(summary_from_json(summary, "x"), RunSummary{});
  summary.replace(summary.find("\"none\""), 6, "\"boom\"");
  EXPECT_THAT(error_of([&] { summary_from_json(summary, "r1/summary"); }),
              HasSubstr("unknown outcome boom"));
}

}  // namespace
}  // namespace heddle::store
