// SPDX-License-Identifier: Apache-2.0
#include "driver/build/response_file.h"

#include "tests/build/workshop.h"

namespace heddle::build {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ResponseFile, SplitsAsGnuToolsDo) {
  EXPECT_THAT(split_words(""), IsEmpty());
  EXPECT_THAT(split_words(" \n\t "), IsEmpty());
  EXPECT_THAT(split_words("-o out\n-l c"), ElementsAre("-o", "out", "-l", "c"));
  EXPECT_THAT(split_words(R"("a b" 'c d' e\ f "" g"h"i)"),
              ElementsAre("a b", "c d", "e f", "", "ghi"));
  EXPECT_THAT(split_words(R"("a\"b" unfinished")"), ElementsAre("a\"b", "unfinished"));
}

TEST(ResponseFile, JoinAndSplitAreOpposites) {
  const std::vector<std::string> words = {
      "", "plain", "two words", "quo\"te", "back\\slash", "it's", "-Wl,-rpath,$ORIGIN"};
  EXPECT_EQ(split_words(join_words(words)), words);
}

TEST(ResponseFile, SplitsWhatTheLinkerKeeps) {
  EXPECT_THAT(split_reproduced(""), IsEmpty());
  EXPECT_THAT(split_reproduced("--chroot .\n-pie\n-o p\n"),
              ElementsAre("--chroot", ".", "-pie", "-o", "p"));
  EXPECT_THAT(split_reproduced(R"("a b/c.o")"), ElementsAre("a b/c.o"));
  EXPECT_THAT(split_reproduced(R"(-L "a b/c")"), ElementsAre("-L", "a b/c"));
  EXPECT_THAT(split_reproduced(R"(--defsym="a = b")"), ElementsAre("--defsym=a = b"));
  // Nothing is protected.
  EXPECT_THAT(split_reproduced("it's/a.o\nb\\c.o\nd\"e\".o\n-o \"f\"\n\"g h\"i j\"\n"),
              ElementsAre("it's/a.o", "b\\c.o", "d\"e\".o", "-o", "\"f\"", "g h\"i j"));
}

class ResponseFileTest : public Workshop {};

TEST_F(ResponseFileTest, ExpandsNestedFilesButNotForever) {
  const std::string inner = write("inner", "-c").string();
  const std::string outer = write("outer", "a @" + inner + " b").string();
  EXPECT_THAT(expand_response_files({"@" + outer, "@absent", "@"}),
              ElementsAre("a", "-c", "b", "@absent", "@"));
  const std::string self = (source_ / "self").string();
  write("self", "x @" + self);
  EXPECT_LT(expand_response_files({"@" + self}).size(), 100u);
}

}  // namespace
}  // namespace heddle::build
