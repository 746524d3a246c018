// SPDX-License-Identifier: Apache-2.0
#include "ir/symbol_table.h"

#include "tests/build/workshop.h"

namespace heddle::ir {
namespace {

class SymbolTableTest : public build::Workshop {
 protected:
  // nm's idea of where a symbol is.
  std::uint64_t address_of(const std::string& symbol, const std::string& program) {
    return std::stoull(must("nm " + program + " | awk '$3 == \"" + symbol + "\" { print $1 }'"),
                       nullptr, 16);
  }
};

TEST_F(SymbolTableTest, FindsVariablesAndTheirOffsets) {
  write("a.cpp",
        "namespace data { int table[10]; char last; }\nthread_local int each;\n"
        "int main() { return data::table[1] + data::last + each; }");
  must("clang++-19 -O0 a.cpp -o a");
  const SymbolTable table = SymbolTable::of_file(source_ / "a");
  const std::uint64_t start = address_of("_ZN4data5tableE", "a");
  const auto inside = table.find(start + 39);
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->symbol, "data::table");
  EXPECT_EQ(inside->offset, 39u);
  EXPECT_EQ(inside->size, 40u);
  const auto after = table.find(start + 40);
  EXPECT_TRUE(!after || after->symbol != "data::table");
  EXPECT_FALSE(table.find(address_of("main", "a")));
  EXPECT_FALSE(table.find(0));
  EXPECT_FALSE(table.find(~std::uint64_t{0}));
}

TEST_F(SymbolTableTest, StrippedFilesKeepTheirDynamicSymbols) {
  write("a.c", "int exported[4]; static int hidden; int *f(void) { return &hidden; }");
  must("clang-19 -fPIC -shared a.c -o a.so && cp a.so full.so && strip a.so");
  const auto found =
      SymbolTable::of_file(source_ / "a.so").find(address_of("exported", "full.so") + 4);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->symbol, "exported");
  EXPECT_FALSE(SymbolTable::of_file(source_ / "a.so").find(address_of("hidden", "full.so")));
}

TEST_F(SymbolTableTest, NoElfFileNoTable) {
  const auto file = write("text", "text");
  build::expect_error(ExitCode::UserMistake, "ELF", [&] { SymbolTable::of_file(file); });
}

TEST(Demangle, LeavesOtherNamesAlone) {
  EXPECT_EQ(demangle("_ZN4data5tableE"), "data::table");
  EXPECT_EQ(demangle("counter"), "counter");
  EXPECT_EQ(demangle("n"), "n");  // also the encoding of a type
  EXPECT_EQ(demangle("_Zgarbage"), "_Zgarbage");
}

}  // namespace
}  // namespace heddle::ir
