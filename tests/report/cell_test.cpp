// SPDX-License-Identifier: Apache-2.0
#include "report/text/cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::report {
namespace {

using testing::ElementsAre;

TEST(Cell, MeasuresTerminalColumns) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("gr\xc3\xbc\xc3\x9f"), 4u);
  EXPECT_EQ(display_width("\xe6\x97\xa5\xe6\x9c\xac"), 4u) << "wide";
  EXPECT_EQ(display_width("e\xcc\x81"), 1u) << "combining";
  EXPECT_EQ(display_width("\xff\xfe"), 2u);
}

TEST(Cell, MakesTextPrintable) {
  EXPECT_EQ(printable("a\tb\x1b[31mc\n", true), "a b?[31mc?");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f \xff", true), "gr\xc3\xbc\xc3\x9f ?");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f", false), "gr??");
  EXPECT_EQ(printable("\xc2\x9b\xe2\x80\xae\xe2\x81\xa6", true), "???") << "CSI, RLO, LRI";
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80\xf5\x80\x80\x80", true), "?????????");
  EXPECT_EQ(printable("\xe0\x80\xaf", true), "???") << "overlong";
  EXPECT_EQ(printable("\xe2\x82", true), "??");
}

TEST(Cell, ShortensToWidth) {
  EXPECT_EQ(shortened("abcdef", 6, "..."), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6, "..."), "abc...");
  EXPECT_EQ(shortened("ab defg", 6, "..."), "ab...");
  EXPECT_EQ(shortened("abcdefg", 6, "\xe2\x80\xa6"), "abcde\xe2\x80\xa6");
  EXPECT_EQ(shortened("abcdefg", 2, "..."), "ab");
  EXPECT_EQ(shortened("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 4, "."), "\xe6\x97\xa5.");
}

TEST(Cell, Wraps) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("abcdefghij", 4), ElementsAre("abcd", "efgh", "ij"));
  EXPECT_THAT(wrapped("", 4), ElementsAre(""));
  EXPECT_THAT(wrapped("\xe6\x97\xa5\xe6\x97\xa5", 0), ElementsAre("\xe6\x97\xa5", "\xe6\x97\xa5"));
}

TEST(Cell, Pads) {
  EXPECT_EQ(padded("a\xc3\xbc", 4), "a\xc3\xbc  ");
  EXPECT_EQ(padded("abcd", 2), "abcd");
}

}  // namespace
}  // namespace heddle::report
