// SPDX-License-Identifier: Apache-2.0
//
// A library and a program as autotools build them: configure makes libtool fit Heddle's compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "abi/variant.h"
#include "driver/build/variant.h"
#include "workshop.h"

namespace heddle::build {
namespace {

class Libtool : public Workshop {
 protected:
  Libtool() {
    write("configure.ac", R"(
AC_INIT([greeting], [1])
AC_CONFIG_MACRO_DIRS([m4])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
LT_INIT
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
)");
    write("Makefile.am", R"(
ACLOCAL_AMFLAGS = -I m4
lib_LTLIBRARIES = libgreeting.la
libgreeting_la_SOURCES = greeting.c
libgreeting_la_LDFLAGS = -version-info 2:1:1
bin_PROGRAMS = greet
greet_SOURCES = main.c
greet_LDADD = libgreeting.la
)");
    write("greeting.c", "static int times; int greeting(void) { return ++times; }");
    write("main.c", R"(
int greeting(void);
int shared;
int main(void) { shared = greeting(); return shared + greeting() == 3 ? 7 : 1; }
)");
    must("autoreconf -fi >log 2>&1 || cat log");
  }
};

TEST_F(Libtool, BuildsALibraryBothWaysAndAProgram) {
  must("./configure -q CC=$CC CFLAGS='-g -O2' >log 2>&1 || cat log");
  const std::size_t of_probes = links().size();
  must("make -s -j2 >log 2>&1 || cat log");
  EXPECT_EQ(shell("./greet").status, 7);
  // Both are there, and the real program, not the script that finds its library, has variants.
  must("test -f .libs/libgreeting.so.1.1.1 && test -f .libs/libgreeting.a");
  EXPECT_EQ(links().size(), of_probes + 2);
  must("make -s install DESTDIR=$PWD/root prefix=/usr >log 2>&1 || cat log");
  EXPECT_EQ(shell("LD_LIBRARY_PATH=root/usr/lib root/usr/bin/greet").status, 7);
  EXPECT_NO_THROW(derive_variant(source_ / ".libs/greet", abi::Variant::Full));
  EXPECT_NO_THROW(derive_variant(source_ / ".libs/libgreeting.so.1.1.1", abi::Variant::Full));
}

TEST_F(Libtool, LinksStatically) {
  must("./configure -q CC=$CC CFLAGS='-g -O2' --disable-shared >log 2>&1 || cat log");
  must("make -s -j2 >log 2>&1 || cat log");
  EXPECT_EQ(shell("./greet").status, 7);
  EXPECT_EQ(run_variant(source_ / "greet").status, 7);
}

}  // namespace
}  // namespace heddle::build
