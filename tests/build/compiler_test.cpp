// SPDX-License-Identifier: Apache-2.0
//
// heddle-cc and heddle-c++ in the place of a compiler.
#include <fmt/format.h>

#include "driver/build/build.h"
#include "tests/build/workshop.h"

namespace heddle::build {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Compiler : public Workshop {};

TEST_F(Compiler, BuildsOneFileAndLeavesNothingElseInTheTree) {
  write("counter.c", kCounterProgram);
  must("$CC -O2 -pthread counter.c -o counter");
  EXPECT_EQ(must("./counter"), "counter 4\n");
  EXPECT_THAT(files_below(source_), ElementsAre("counter", "counter.c"));
  EXPECT_THAT(links(), ElementsAre(read_build_id(source_ / "counter") + ".tar.zst"));
  EXPECT_THAT(files_below(cache_ / "tmp"), IsEmpty());
  EXPECT_TRUE(is_heddle_built(source_ / "counter"));
}

TEST_F(Compiler, BuildsSeveralFilesInOneStepAndInTwo) {
  write("main.c", "int add(int, int); int main(void) { return add(40, 2); }");
  write("add.c", "int total; int add(int a, int b) { total += a + b; return total; }");
  must("$CC main.c add.c -o one_step");
  must("$CC -c main.c && $CC -c add.c -o add.o && $CC -o two_steps main.o add.o");
  for (const char* program : {"one_step", "two_steps"}) {
    EXPECT_EQ(shell(fmt::format("./{}", program)).status, 42);
    const Result variant = run_variant(source_ / program);
    EXPECT_EQ(variant.status, 42);
    EXPECT_THAT(variant.output, HasSubstr("__heddle_store4"));
  }
}

TEST_F(Compiler, TakesOutputNamesAndResponseFilesAnywhere) {
  write("a dir/main.c", "int main(void) { return 7; }");
  write("words", "-O1 \"a dir/main.c\" -o 'out put'");
  must("$CC @words");
  EXPECT_EQ(shell("'./out put'").status, 7);
  must("$CC -ofirst 'a dir/main.c'");
  EXPECT_EQ(run_variant(source_ / "first").status, 7);
  EXPECT_EQ(run_variant(source_ / "out put").status, 7);
  must("$CC 'a dir/main.c'");
  EXPECT_EQ(run_variant(source_ / "a.out").status, 7);
}

TEST_F(Compiler, PassesOnWhatIsNoLink) {
  write("main.c", "#include <stdio.h>\nint main(void) { return VALUE; }");
  EXPECT_THAT(must("$CC --version"), HasSubstr("clang version 19"));
  EXPECT_THAT(must("$CC -v"), HasSubstr("clang version 19"));
  EXPECT_THAT(must("$CC -DVALUE=9 -E main.c"), HasSubstr("return 9"));
  EXPECT_THAT(must("$CC -DVALUE=9 -S main.c -o -"),
              testing::AllOf(HasSubstr("main:"), Not(HasSubstr(".llvm.lto"))));
  EXPECT_THAT(must("$CC -DVALUE=9 -S -emit-llvm main.c -o -"), HasSubstr("define"));
  EXPECT_THAT(must("$CC -MM main.c"), HasSubstr("main.o: main.c"));
  EXPECT_THAT(must("$CC -DVALUE=9 -fsyntax-only -Wall -Werror main.c"), IsEmpty());
  EXPECT_THAT(must("$CC -dumpmachine"), HasSubstr("x86_64"));
  EXPECT_THAT(must("$CC -print-prog-name=ld"), HasSubstr("ld"));
  must("$CC -Werror -DVALUE=9 -MD -MF main.d -c main.c");
  EXPECT_THAT(files_below(source_), ElementsAre("main.c", "main.d", "main.o"));
  EXPECT_THAT(links(), IsEmpty());
}

TEST_F(Compiler, ComplainsAsClangDoes) {
  write("bad.c", "int main(void) { return missing; }");
  write("unresolved.c", "int missing(void); int main(void) { return missing(); }");
  const Result bad = shell("$CC bad.c -o bad");
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.output, HasSubstr("bad.c:1:25: error"));
  const Result unresolved = shell("$CC unresolved.c -o unresolved");
  EXPECT_EQ(unresolved.status, 1);
  EXPECT_THAT(unresolved.output, HasSubstr("undefined symbol: missing"));
  EXPECT_EQ(shell("$CC").status, 1);
  EXPECT_THAT(links(), IsEmpty());
  EXPECT_THAT(files_below(cache_ / "tmp"), IsEmpty());
}

TEST_F(Compiler, RespectsChoicesOfDebugInformation) {
  write("main.c", "int global; int main(void) { return global; }");
  must("$CC -c main.c -o default.o && $CC -g0 -c main.c -o none.o && $CC -g1 -c main.c -o few.o");
  EXPECT_THAT(must("readelf -SW default.o"), HasSubstr(".debug_info"));
  EXPECT_THAT(must("readelf -SW none.o"), Not(HasSubstr(".debug_info")));
  EXPECT_THAT(must("llvm-dwarfdump-19 few.o || /usr/lib/llvm-19/bin/llvm-dwarfdump few.o"),
              Not(HasSubstr("DW_TAG_variable")));
  must("$CC none.o -g0 -o none");
  EXPECT_EQ(run_variant(source_ / "none").status, 0);
}

TEST_F(Compiler, WarnsOfNothingOfItsOwn) {
  write("main.c", "int main(void) { return 0; }");
  write("start.s", ".globl start\nstart: ret\n.section .note.GNU-stack,\"\",@progbits\n");
  EXPECT_EQ(must("$CC -Wall -Wextra -Werror -Wunused-command-line-argument -c main.c"), "");
  EXPECT_EQ(must("$CC -Wall -Wextra -Werror -c start.s"), "");
  EXPECT_EQ(must("$CC -Wall -Wextra -Werror main.o start.o -o main"), "");
  EXPECT_EQ(must("$CC -Wall -Werror -flto=thin -fuse-ld=bfd -- main.c"), "");
  EXPECT_EQ(run_variant(source_ / "a.out").status, 0);
}

TEST_F(Compiler, BuildsStaticLibrariesWithGnuAr) {
  write("main.c", "int twice(int); int main(void) { return twice(21); }");
  write("twice.c", "int calls; int twice(int x) { calls++; return 2 * x; }");
  must("$CC -c main.c && $CC -c twice.c && ar rcs libtwice.a twice.o && ranlib libtwice.a");
  EXPECT_THAT(must("nm libtwice.a"), HasSubstr("T twice"));
  must("$CC main.o -L. -ltwice -o with_l && $CC main.o libtwice.a -o with_name");
  for (const char* program : {"with_l", "with_name"}) {
    const Result variant = run_variant(source_ / program);
    EXPECT_EQ(variant.status, 42) << variant.output;
    EXPECT_THAT(variant.output, HasSubstr("__heddle_store4"));
  }
}

TEST_F(Compiler, BuildsSharedLibraries) {
  write("main.cpp", "int twice(int); int main() { return twice(21); }");
  write("twice.cpp", "int calls; int twice(int x) { calls++; return 2 * x; }");
  must(
      "$CXX -fPIC -shared twice.cpp -o libtwice.so && $CXX main.cpp -L. -ltwice "
      "-Wl,-rpath,'$ORIGIN' -o main");
  EXPECT_EQ(shell("./main").status, 42);
  EXPECT_EQ(links().size(), 2u);
  // The library is still found, although the variant lives elsewhere.
  EXPECT_EQ(run_variant(source_ / "main").status, 42);
  EXPECT_NO_THROW(derive_variant(source_ / "libtwice.so", Variant::Full));
  // A copy with a library of its own must not get the first one's variant.
  must("mkdir copy && cp main libtwice.so copy/ && rm libtwice.so");
  EXPECT_EQ(run_variant(source_ / "copy/main").status, 42);
}

TEST_F(Compiler, BuildsAMakefileProject) {
  write("Makefile",
        "OBJS = main.o add.o\nprog: $(OBJS)\n\t$(CC) $(LDFLAGS) -o $@ $(OBJS)\n"
        "%.o: %.c\n\t$(CC) $(CFLAGS) -MMD -c $<\n-include *.d\n");
  write("main.c", "int add(int); int main(void) { return add(2); }");
  write("add.c", "int sum = 3; int add(int x) { return sum += x; }");
  must("make -s -j4 CFLAGS='-O2 -Wall -Werror'");
  EXPECT_THAT(files_below(source_), ElementsAre("Makefile", "add.c", "add.d", "add.o", "main.c",
                                                "main.d", "main.o", "prog"));
  EXPECT_EQ(run_variant(source_ / "prog").status, 5);
}

TEST_F(Compiler, BuildsACMakeProjectAndIgnoresItsProbes) {
  write("CMakeLists.txt", R"(
cmake_minimum_required(VERSION 3.20)
project(sample C CXX)
find_package(Threads REQUIRED)
include(CheckFunctionExists)
check_function_exists(pthread_setname_np HAVE_SETNAME)
add_library(part STATIC part.c)
add_executable(sample main.cpp)
target_link_libraries(sample part Threads::Threads)
)");
  write("part.c", "int state; int part(int x) { state += x; return state; }");
  write("main.cpp", R"(
#include <thread>
extern "C" int part(int);
int main() { std::thread([] { part(30); }).join(); return part(3); }
)");
  must("cmake -S . -B build -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE=Release >log 2>&1 || cat log");
  EXPECT_THAT(links(), IsEmpty());
  must("cmake --build build");
  EXPECT_THAT(links(), ElementsAre(read_build_id(source_ / "build/sample") + ".tar.zst"));
  EXPECT_EQ(run_variant(source_ / "build/sample").status, 33);
}

TEST_F(Compiler, LeavesNothingOfConfigureProbes) {
  write("conftest.c", "int main(void) { return 0; }");
  must("$CC -o conftest conftest.c -lm && ./conftest && rm -f conftest");
  must("$CC -o /dev/null conftest.c || true");
  EXPECT_THAT(must("$CC -Wl,--version 2>&1"), HasSubstr("LLD 19"));
  EXPECT_THAT(links(), IsEmpty());
  EXPECT_THAT(files_below(cache_), IsEmpty());
  EXPECT_THAT(files_below(source_), ElementsAre("conftest.c"));
}

TEST_F(Compiler, KeepsEveryOneOfManyLinksAtOnce) {
  std::string command;
  for (int i = 0; i < 8; ++i) {
    write(fmt::format("p{}.c", i), fmt::format("int main(void) {{ return {}; }}", i));
    command += fmt::format("$CC p{0}.c -o p{0} & ", i);
  }
  must(command + "wait");
  EXPECT_EQ(links().size(), 8u);
  EXPECT_EQ(run_variant(source_ / "p5").status, 5);
}

TEST_F(Compiler, ObjectsOfLdMinusRStayNative) {
  write("main.c", "int a(void); int b(void); int main(void) { return a() + b(); }");
  write("a.c", "int x = 1; int a(void) { return x++; }");
  write("b.c", "int y = 2; int b(void) { return y++; }");
  must("$CC -c main.c a.c b.c && $CC -r -o both.o a.o b.o && $CC main.o both.o -o main");
  EXPECT_EQ(shell("./main").status, 3);
  EXPECT_EQ(run_variant(source_ / "main").status, 3);
  EXPECT_EQ(must("readelf -SW both.o | grep -c 'llvm\\.lto' || true"), "0\n");
}

TEST_F(Compiler, APartialLinkDoesNotDisplaceTheSameProgram) {
  write("main.c", "int a(void); int main(void) { return a(); }");
  write("a.c", "int x = 3; int a(void) { return x++; }");
  must("$CC -c main.c a.c && $CC main.o a.o -o main");
  must("$CC -r -o both.o main.o a.o && $CC both.o -o again");
  ASSERT_EQ(read_build_id(source_ / "main"), read_build_id(source_ / "again"));
  EXPECT_THAT(run_variant(source_ / "main").output, HasSubstr("__heddle_load4"));
}

TEST_F(Compiler, SanitizersThatInstrumentDoSoOnce) {
  write("main.c", "int a(int*); int main(int n, char** v) { return a(&n) + !v; }");
  write("a.c", "int a(int* p) { return *p; }");
  const std::string reports = " && objdump -dr a.o | grep -c __asan_report_load4 || true";
  const std::string once = must("clang-19 -O1 -fsanitize=address -c a.c" + reports);
  EXPECT_EQ(must("$CC -O1 -fsanitize=undefined,address -c main.c a.c" + reports), once);
  must("$CC -fsanitize=undefined,address main.o a.o -o main");
  EXPECT_EQ(shell("ASAN_OPTIONS=detect_leaks=0 ./main").status, 1);
  // What has no pass of its own does no harm to bitcode.
  must("$CC -fsanitize=undefined main.c a.c -o main");
  EXPECT_THAT(run_variant(source_ / "main").output, HasSubstr("__heddle_load4"));
}

TEST_F(Compiler, ObjectsOfGnuLdMinusRAreRefusedWithAdvice) {
  write("main.c", "int a(void); int b(void); int main(void) { return a() + b(); }");
  write("a.c", "int x = 1; int a(void) { return x++; }");
  write("b.c", "int y = 2; int b(void) { return y++; }");
  must("$CC -c main.c a.c b.c && ld -r -o both.o a.o b.o && $CC main.o both.o -o main");
  EXPECT_EQ(shell("./main").status, 3);
  expect_error(ExitCode::UserMistake, "heddle-cc -r",
               [&] { derive_variant(source_ / "main", Variant::Full); });
}

TEST_F(Compiler, ObjectsOfAnotherLlvmAreRefusedWithAdvice) {
  write("main.c", "int a(void); int main(void) { return a(); }");
  write("a.c", "int x = 3; int a(void) { return x; }");
  must("$CC -c main.c a.c && objcopy --dump-section .llvm.lto=bitcode a.o");
  // What a newer LLVM writes makes no sense to this one: here or there it stops making sense.
  for (const int kept : {4, 200, 400}) {
    must(
        fmt::format("head -c {} bitcode >part && head -c 600 /dev/zero >>part && "
                    "objcopy --update-section .llvm.lto=part a.o b.o && $CC main.o b.o -o main",
                    kept));
    EXPECT_EQ(shell("./main").status, 3) << kept;
    expect_error(ExitCode::UserMistake, "comes from another compiler",
                 [&] { derive_variant(source_ / "main", Variant::Full); });
  }
}

TEST_F(Compiler, ObjectsOfGccsOwnIntermediateCodeAreNamed) {
  write("main.c", "int a(void); int main(void) { return a(); }");
  write("a.c", "int x = 3; int a(void) { return x; }");
  must("$CC -c main.c && gcc -O2 -flto -c a.c");
  const Result refused = shell("$CC main.o a.o -o main");
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.output, HasSubstr("a.o holds no machine code"));
  EXPECT_THAT(refused.output, Not(HasSubstr("main.o holds no")));
  must("gcc -O2 -flto -ffat-lto-objects -c a.c && $CC main.o a.o -o main");
  EXPECT_EQ(run_variant(source_ / "main").status, 3);
}

TEST_F(Compiler, HonoursTheUsersBuildIdAndLinkerScripts) {
  write("main.c", "int main(void) { return 0; }");
  write("versions.map", "{ local: *; };");
  must("$CC main.c -Wl,--build-id=none -o none && $CC main.c -Wl,--build-id=0x1234abcd -o own");
  EXPECT_EQ(read_build_id(source_ / "own"), "1234abcd");
  EXPECT_EQ(run_variant(source_ / "none").status, 0);
  EXPECT_EQ(run_variant(source_ / "own").status, 0);
  must("$CC -shared -fPIC main.c -Wl,--version-script=versions.map -o lib.so");
  EXPECT_NO_THROW(derive_variant(source_ / "lib.so", Variant::Full));
}

TEST_F(Compiler, OtherLanguagesAndStandardInput) {
  write("main.txt", "int main() { auto f = [] { return 5; }; return f(); }");
  must("$CXX -x c++ main.txt -o main && $CXX -x c++ - -o piped <main.txt");
  EXPECT_EQ(run_variant(source_ / "main").status, 5);
  EXPECT_EQ(run_variant(source_ / "piped").status, 5);
}

TEST_F(Compiler, LinksSeveralLanguages) {
  write("main.c", "int twice(int); int zero(void); int main(void) { return twice(4) + zero(); }");
  write("twice.cpp", "static int calls; extern \"C\" int twice(int x) { ++calls; return x + x; }");
  write("zero.S", ".globl zero\nzero: xorl %eax, %eax\nret\n.section .note.GNU-stack\n");
  must("$CC -O1 -c main.c && $CXX -O2 -c twice.cpp && $CC -c zero.S && $CXX main.o twice.o zero.o");
  EXPECT_EQ(shell("./a.out").status, 8);
  EXPECT_EQ(run_variant(source_ / "a.out").status, 8);
}

TEST_F(Compiler, ACacheThatCannotBeWrittenCostsAWarningNotTheLink) {
  write("main.c", "int main(void) { return 0; }");
  const Result result = shell("HEDDLE_CACHE=/proc/nowhere $CC main.c -o main");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("warning"));
  EXPECT_THAT(result.output, HasSubstr("HEDDLE_CACHE"));
  EXPECT_EQ(must("./main"), "");
}

TEST_F(Compiler, SaysWhatIsMissing) {
  write("main.c", "int main(void) { return 0; }");
  const Result result = shell("HEDDLE_LIB=/nowhere $CC main.c -o main");
  EXPECT_EQ(result.status, static_cast<int>(ExitCode::Environment));
  EXPECT_THAT(result.output, HasSubstr("/nowhere/heddle-ld is missing"));
}

}  // namespace
}  // namespace heddle::build
