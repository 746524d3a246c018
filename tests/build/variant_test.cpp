// SPDX-License-Identifier: Apache-2.0
//
// From a built program to its full variant, and every way this can go wrong.
#include <fmt/format.h>

#include <fstream>
#include <thread>

#include "driver/build/build.h"
#include "tests/build/workshop.h"

namespace heddle::build {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class VariantTest : public Workshop {
 protected:
  fs::path build_counter() {
    write("counter.c", kCounterProgram);
    must("$CC -O2 -pthread counter.c -o counter");
    return source_ / "counter";
  }
  fs::path link_of(const fs::path& program) const {
    return cache_ / "links" / (read_build_id(program) + ".tar.zst");
  }
};

TEST_F(VariantTest, IsInstrumentedAndBehavesAlike) {
  const fs::path program = build_counter();
  const Result result = run_variant(program);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("counter 4\n"));
  EXPECT_THAT(result.output, HasSubstr("__heddle_load4"));
  EXPECT_THAT(result.output, HasSubstr("__heddle_store4"));
}

TEST_F(VariantTest, NeedsTheRuntimeFirst) {
  const fs::path variant = derive_variant(build_counter(), Variant::Full);
  const std::string needed = must(fmt::format("readelf -dW '{}' | grep NEEDED", variant.string()));
  EXPECT_THAT(needed.substr(0, needed.find('\n')), HasSubstr("libheddle_rt.so.1"));
  EXPECT_EQ(must(fmt::format("readelf -dW '{}' | grep -c PATH || true", variant.string())), "0\n");
}

TEST_F(VariantTest, IsMadeOnceAndTellsItsProgress) {
  const fs::path program = build_counter();
  std::vector<std::string> told;
  const Progress listen = [&](std::string_view what) { told.emplace_back(what); };
  const fs::path first = derive_variant(program, Variant::Full, listen);
  EXPECT_EQ(told.size(), 2u);
  told.clear();
  EXPECT_EQ(derive_variant(program, Variant::Full, listen), first);
  EXPECT_THAT(told, IsEmpty());
  EXPECT_THAT(files_below(cache_ / "tmp"), IsEmpty());
}

TEST_F(VariantTest, TwoAtOnceGetTheSameAndOneMakesIt) {
  const fs::path program = build_counter();
  std::atomic<int> links_done = 0;
  fs::path results[2];
  std::thread threads[2];
  for (int i = 0; i < 2; ++i) {
    threads[i] = std::thread([&, i] {
      results[i] = derive_variant(program, Variant::Full, [&](std::string_view what) {
        if (what.starts_with("linking")) ++links_done;
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(links_done, 1);
}

TEST_F(VariantTest, StrippedProgramsWork) {
  const fs::path program = build_counter();
  must("strip counter");
  EXPECT_EQ(run_variant(program).status, 0);
  must("$CC -s -pthread counter.c -o bare");
  const fs::path variant = derive_variant(source_ / "bare", Variant::Full);
  EXPECT_THAT(must(fmt::format("nm '{}'", variant.string())), HasSubstr("counter"));
}

TEST_F(VariantTest, AbsentFile) {
  expect_error(ExitCode::UserMistake, "cannot read",
               [&] { derive_variant(source_ / "absent", Variant::Full); });
}

TEST_F(VariantTest, NotAnElfFile) {
  const fs::path script = write("script", "#!/bin/sh\nexec true\n");
  expect_error(ExitCode::UserMistake, "not a 64-bit ELF",
               [&] { derive_variant(script, Variant::Full); });
  expect_error(ExitCode::UserMistake, "not a 64-bit ELF", [&] { read_build_id(source_); });
}

TEST_F(VariantTest, DamagedElfFile) {
  const fs::path program = build_counter();
  for (const std::uintmax_t size : {0u, 4u, 60u, 70u, 300u, 500u}) {
    const fs::path cut = source_ / fmt::format("cut{}", size);
    fs::copy_file(program, cut);
    fs::resize_file(cut, size);
    EXPECT_THROW(derive_variant(cut, Variant::Full), Error) << size;
  }
}

TEST_F(VariantTest, NotBuiltWithHeddle) {
  write("main.c", "int main(void) { return 0; }");
  must("clang-19 main.c -Wl,--build-id=none -o plain && clang-19 main.c -Wl,--build-id -o with_id");
  for (const char* program : {"plain", "with_id"}) {
    EXPECT_FALSE(is_heddle_built(source_ / program));
    expect_error(ExitCode::UserMistake, "heddle-cc",
                 [&] { derive_variant(source_ / program, Variant::Full); });
  }
}

TEST_F(VariantTest, CacheEntryDeleted) {
  const fs::path program = build_counter();
  fs::remove_all(cache_);
  expect_error(ExitCode::UserMistake, "rebuild the program",
               [&] { derive_variant(program, Variant::Full); });
  EXPECT_TRUE(is_heddle_built(program));
}

TEST_F(VariantTest, CacheEntryDamaged) {
  const fs::path program = build_counter();
  const fs::path link = link_of(program);
  fs::resize_file(link, fs::file_size(link) / 2);
  expect_error(ExitCode::UserMistake, "damaged", [&] { derive_variant(program, Variant::Full); });
  std::ofstream(link) << "not an archive at all";
  expect_error(ExitCode::UserMistake, "rebuild the program",
               [&] { derive_variant(program, Variant::Full); });
  must("$CC -O2 -pthread counter.c -o counter");
  EXPECT_EQ(run_variant(program).status, 0);
}

TEST_F(VariantTest, ADamagedVariantInTheCacheIsMadeAgain) {
  const fs::path program = build_counter();
  const fs::path variant = derive_variant(program, Variant::Full);
  const auto size = fs::file_size(variant);
  for (const std::uintmax_t left : {std::uintmax_t{0}, std::uintmax_t{100}, size / 2}) {
    fs::resize_file(variant, left);
    EXPECT_EQ(derive_variant(program, Variant::Full), variant);
    EXPECT_EQ(fs::file_size(variant), size);
    EXPECT_EQ(run_variant(program).status, 0);
  }
}

TEST_F(VariantTest, NamesAreReadAndWrittenAlike) {
  for (const char* name :
       {"full", "production", "path", "full+loops", "full+loops+calls", "production+blocks",
        "path+loops", "full+loops+calls+blocks+branches", "sites"}) {
    ASSERT_TRUE(Variant::of_name(name)) << name;
    EXPECT_EQ(Variant::of_name(name)->name(), name);
  }
  EXPECT_EQ(Variant::of_name("full+calls+loops+calls")->name(), "full+loops+calls");
  for (const char* name : {"", "full+", "+loops", "fullx", "full+loop", "full++loops", "loops"}) {
    EXPECT_FALSE(Variant::of_name(name)) << name;
  }
}

TEST_F(VariantTest, IdsOfSitesAreTheSameInAllVariants) {
  const fs::path program = build_counter();
  // The section as text, without the addresses in front.
  const auto table = [&](const char* variant) {
    return must(fmt::format("readelf -x heddle_sites '{}' | sed -n 's/^ *0x[0-9a-f]* //p'",
                            derive_variant(program, *Variant::of_name(variant)).string()));
  };
  const std::string full = table("full");
  EXPECT_GT(full.size(), 100u);
  for (const char* variant : {"production", "path", "full+loops+calls+blocks+branches", "sites"}) {
    EXPECT_EQ(table(variant), full) << variant;
  }
}

TEST_F(VariantTest, StaticPrograms) {
  write("main.c", "int main(void) { return 0; }");
  must("$CC -static main.c -o fixed && $CC -static-pie main.c -o movable");
  for (const char* program : {"fixed", "movable"}) {
    expect_error(ExitCode::UserMistake, "statically",
                 [&] { derive_variant(source_ / program, Variant::Full); });
  }
}

TEST_F(VariantTest, FixedAddressPrograms) {
  write("counter.c", kCounterProgram);
  must("$CC -O2 -fno-pie -no-pie -pthread counter.c -o counter");
  EXPECT_THAT(run_variant(source_ / "counter").output, HasSubstr("counter 4\n"));
}

TEST_F(VariantTest, UnusableCache) {
  const fs::path program = build_counter();
  const fs::path link = link_of(program);
  const std::string variant = derive_variant(program, Variant::Full).string();
  // Whoever runs the tests may be root, whom permissions do not stop; a file in the way does.
  fs::remove_all(cache_ / "variants");
  fs::remove_all(cache_ / "tmp");
  std::ofstream(cache_ / "tmp") << "in the way";
  expect_error(ExitCode::Environment, "HEDDLE_CACHE",
               [&] { derive_variant(program, Variant::Full); });
}

TEST_F(VariantTest, NoPlaceForTheCache) {
  const fs::path program = build_counter();
  ::unsetenv("HEDDLE_CACHE");
  const char* home = std::getenv("HOME");
  const std::string saved = home == nullptr ? "" : home;
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const std::string saved_xdg = xdg == nullptr ? "" : xdg;
  ::unsetenv("HOME");
  ::unsetenv("XDG_CACHE_HOME");
  expect_error(ExitCode::Environment, "set HEDDLE_CACHE",
               [&] { derive_variant(program, Variant::Full); });
  if (home != nullptr) ::setenv("HOME", saved.c_str(), 1);
  if (xdg != nullptr) ::setenv("XDG_CACHE_HOME", saved_xdg.c_str(), 1);
}

TEST_F(VariantTest, RuntimeOfAnotherVersionDoesNotLink) {
  const fs::path program = build_counter();
  const fs::path other = root_ / "other";
  fs::create_directory(other);
  for (const auto& entry : fs::directory_iterator(HEDDLE_TEST_LIB)) {
    if (entry.path().filename() == kRuntimeName) continue;
    fs::create_symlink(entry.path(), other / entry.path().filename());
  }
  // The same runtime but for its version symbol.
  must(
      fmt::format("clang++-19 -std=c++20 -shared -fPIC -D__heddle_abi_v5=__heddle_abi_v0 -I'{0}' "
                  "'{0}/tests/pass/fake_runtime.cpp' -Wl,-soname,{1} -o '{2}/{1}'",
                  HEDDLE_TEST_SOURCE, kRuntimeName, other.string()));
  ::setenv("HEDDLE_LIB", other.c_str(), 1);
  expect_error(ExitCode::Environment, "do not belong to the same version",
               [&] { derive_variant(program, Variant::Full); });
}

TEST_F(VariantTest, PartsOfHeddleMissing) {
  const fs::path program = build_counter();
  ::setenv("HEDDLE_LIB", source_.c_str(), 1);
  expect_error(ExitCode::Environment, "libheddle_pass.so is missing",
               [&] { derive_variant(program, Variant::Full); });
}

}  // namespace
}  // namespace heddle::build
