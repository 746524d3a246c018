# SPDX-License-Identifier: Apache-2.0
"""Real programs: which Debian packages they come from, how they are built unmodified with heddle-cc
and heddle-c++, and what work of their own they do. Words in braces are filled in by kit.py:
{jobs}, {prefix} (where libraries are installed), {client} (client.o), {work}, {port}, and each
package's name (its source tree)."""

import base64
import bz2
import dataclasses
import typing

TEXT = b"".join(b"warp %d weft %d\n" % (i, i * i % 97) for i in range(160))
# The first 1000 bytes of it, as `zstd --ultra -19` packs them.
ZSTD_TEXT = base64.b85decode(
    "D77#B1ZbrN0FsX(6QCzKV1I{*|1ZQ|l9ZGduXrj31Hpmd_1)B^;+OF+mJW}%$bQYCE%OZ7qwthN>M=UwwYZ%2tY{ro"
    "Y0-ap5lVyRshcC^M%JT<I9AY~iLCHg=VLuh*K(hY)}~^`7?C2+(0+*)QEgD8Qzx;IWO|v7^PaB`I|)z_hJoNf6a=9V"
    "I0SsCAWFBN0pP6$5E5U{S{26nA8=HalX;PiS-Q+~u}`PtsK9^!&%6Or3YS9{q5")
PAGE = b"<html><body>woven</body></html>\n"


@dataclasses.dataclass(frozen=True)
class Job:
    """One piece of work: a command line, and what makes its result right."""
    name: str
    arguments: tuple = ()
    stdin: bytes = b""
    client: str = ""  # protocol of client.c
    expects: typing.Callable = lambda output: True
    program: str = ""  # suffix of another product of the same package
    control: tuple = ()  # flags of `heddle run` and `explore`
    controlled: bool = True  # False: only natively and in the variants
    writes: tuple = ()  # files in {work} that its next execution would look at
    fails: bool = False  # a schedule exists in which it does not hold, and control meets it


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    packages: tuple
    jobs: tuple
    build: tuple  # (folder, command), once
    products: dict  # suffix -> (file, folder, command that links it)
    shown: str = ""  # its row of docs/real-programs.md
    fast: bool = False  # part of `make test`


CXX98 = "CXX=heddle-c++ -w -Wno-reserved-user-defined-literal"  # which clang takes for an error
REDIS = ("make", "-s", "-j{jobs}", "CC=heddle-cc -w", "MALLOC=libc", "BUILD_TLS=no", "USE_SYSTEMD=no",
         "LDFLAGS={client}")
ZSTD = ("make", "-s", "-j{jobs}", "CC=heddle-cc", "-C", "programs", "zstd")
LEVELDB = ("-O2", "-w", "-I.", "-Iinclude", "-Ib/include", "-DLEVELDB_PLATFORM_POSIX=1", "-pthread")

# For programs that do too much to have every access seen.
SYNCHRONISATION = ("--preempt-at", "sync", "--overlook", "1", "--max-events", "60000000")

PROGRAMS = [
    Program(
        name="pbzip2", packages=("bzip2", "pbzip2"), fast=True,
        shown="pbzip2 with libbz2",
        build=(
            ("{bzip2}", ("make", "-s", "-j{jobs}", "CC=heddle-cc", "libbz2.a")),
            ("{pbzip2}", ("cp", "{bzip2}/libbz2.a", "{bzip2}/bzlib.h", ".")),
        ),
        products={"": ("{pbzip2}/pbzip2", "{pbzip2}", ("make", "-s", CXX98, "pbzip2-static"))},
        jobs=(
            Job("compress", ("-p2", "-b1", "-c"), TEXT,
                expects=lambda output: bz2.decompress(output) == TEXT),
            Job("decompress", ("-p2", "-d", "-c"), bz2.compress(TEXT[:1000]) + bz2.compress(TEXT[1000:]),
                expects=lambda output: output == TEXT),
        )),
    Program(
        name="zstd", packages=("libzstd",),
        shown="zstd with libzstd",
        build=(("{libzstd}", ZSTD),),
        # Its objects depend on their lists of headers, which clang writes after them: without a
        # touch, each link would compile all of it again.
        products={"": ("{libzstd}/programs/zstd", "{libzstd}",
                       ("sh", "-c", 'touch programs/obj/*/*.o; exec "$@"', "link", *ZSTD))},
        jobs=(
            Job("round trip", ("-q", "-1", "-T2", "-c"), TEXT, control=("--preempt-at", "sync"),
                expects=lambda output: output[:4] == b"\x28\xb5\x2f\xfd"),
            Job("decompress", ("-q", "-d", "-c"), ZSTD_TEXT, control=("--preempt-at", "sync"),
                expects=lambda output: output == TEXT[:1000]),
            Job("benchmark", ("-q", "-b1", "-i0", "-T2", "{work}/text"), controlled=False),
        )),
    Program(
        name="zstd-pool", packages=("libzstd",), fast=True,
        shown="zstd's thread pool",
        build=(),
        products={"": ("{libzstd}/tests/poolTests", "{libzstd}",
                       ("make", "-s", "-j{jobs}", "CC=heddle-cc", "-C", "tests", "poolTests"))},
        jobs=(Job("poolTests", control=("--preempt-at", "sync"), fails=True),)),
    Program(
        name="memcached", packages=("libevent", "memcached"),
        shown="memcached with libevent",
        build=(
            ("{libevent}", ("./configure", "-q", "CC=heddle-cc", "--disable-shared", "--disable-openssl",
                            "--disable-samples", "--disable-libevent-regress", "--prefix={prefix}")),
            ("{libevent}", ("make", "-s", "-j{jobs}", "install")),
            ("{memcached}", ("./configure", "-q", "CC=heddle-cc", "--with-libevent={prefix}",
                             "--disable-docs", "LIBS={client}")),
        ),
        products={"": ("{memcached}/memcached", "{memcached}", ("make", "-s", "-j{jobs}", "memcached"))},
        jobs=(
            Job("loopback", ("-u", "root", "-l", "127.0.0.1", "-p", "{port}", "-U", "0", "-A", "-t", "2",
                             "-m", "16"), client="memcached"),
        )),
    Program(
        name="redis", packages=("redis",),
        shown="redis with its libraries",
        build=(("{redis}", REDIS),),
        products={"": ("{redis}/src/redis-server", "{redis}/src", (*REDIS, "redis-server"))},
        jobs=(
            Job("loopback", ("--port", "{port}", "--bind", "127.0.0.1", "--save", "", "--databases", "1"),
                client="redis", control=("--preempt-at", "sync")),
        )),
    Program(
        name="leveldb", packages=("leveldb",),
        shown="leveldb",
        build=(
            ("{leveldb}", ("cmake", "-S", ".", "-B", "b", "-DCMAKE_BUILD_TYPE=Release",
                           "-DCMAKE_C_COMPILER=heddle-cc", "-DCMAKE_CXX_COMPILER=heddle-c++",
                           "-DLEVELDB_BUILD_TESTS=OFF", "-DLEVELDB_BUILD_BENCHMARKS=OFF",
                           "-DHAVE_SNAPPY=OFF", "-DHAVE_TCMALLOC=OFF")),
            ("{leveldb}", ("make", "-s", "-j{jobs}", "-C", "b", "leveldb")),
            ("{leveldb}", ("heddle-cc", "-c", *LEVELDB, "db/c_test.c", "-o", "b/c_test.o")),
        ),
        products={
            "": ("{leveldb}/b/c_test", "{leveldb}",
                 ("heddle-c++", "b/c_test.o", "b/libleveldb.a", "-pthread", "-o", "b/c_test")),
            "-skiplist": ("{leveldb}/b/skiplist_test", "{leveldb}",
                          ("heddle-c++", *LEVELDB, "-std=c++17", "db/skiplist_test.cc", "util/testutil.cc",
                           "b/libleveldb.a", "-lgtest", "-lgmock", "-o", "b/skiplist_test")),
            "-bench": ("{leveldb}/b/db_bench", "{leveldb}",
                       ("heddle-c++", *LEVELDB, "-std=c++17", "-fno-rtti", "benchmarks/db_bench.cc",
                        "util/histogram.cc", "util/testutil.cc", "b/libleveldb.a", "-lgtest", "-lgmock",
                        "-o", "b/db_bench")),
        },
        jobs=(
            Job("c_test", control=("--preempt-at", "sync", "--max-events", "20000000")),
            Job("skiplist_test", ("--gtest_filter=SkipTest.Empty:SkipTest.InsertAndLookup:"
                                  "SkipTest.ConcurrentWithoutThreads",),
                program="-skiplist", control=SYNCHRONISATION, controlled=False),
            Job("skiplist_test, threads", ("--gtest_filter=SkipTest.Concurrent1",), program="-skiplist",
                control=SYNCHRONISATION, controlled=False),
            Job("db_bench", ("--benchmarks=fillseq,readrandom", "--num=2000", "--threads=2",
                             "--db={work}/db"), program="-bench", control=SYNCHRONISATION,
                controlled=False),
        )),
    Program(
        name="apache2", packages=("expat", "pcre2", "apr", "apr-util", "apache2"),
        shown="apache2 (event) with apr, apr-util, pcre2, expat",
        build=(
            ("{expat}", ("cmake", "-S", "expat", "-B", "b", "-DCMAKE_C_COMPILER=heddle-cc",
                         "-DCMAKE_CXX_COMPILER=heddle-c++", "-DEXPAT_SHARED_LIBS=OFF",
                         "-DEXPAT_BUILD_TESTS=OFF", "-DEXPAT_BUILD_TOOLS=OFF",
                         "-DEXPAT_BUILD_EXAMPLES=OFF", "-DEXPAT_BUILD_DOCS=OFF",
                         "-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_INSTALL_LIBDIR=lib")),
            ("{expat}", ("make", "-s", "-j{jobs}", "-C", "b", "install")),
            ("{pcre2}", ("./configure", "-q", "CC=heddle-cc", "--disable-shared", "--prefix={prefix}")),
            ("{pcre2}", ("make", "-s", "-j{jobs}", "install")),
            ("{apr}", ("./configure", "-q", "CC=heddle-cc", "--disable-shared", "--prefix={prefix}")),
            ("{apr}", ("make", "-s", "-j{jobs}")),
            ("{apr}", ("make", "-s", "install")),
            ("{apr-util}", ("./configure", "-q", "CC=heddle-cc", "--with-apr={prefix}",
                            "--with-expat={prefix}", "--prefix={prefix}")),
            ("{apr-util}", ("make", "-s", "-j{jobs}")),
            ("{apr-util}", ("make", "-s", "install")),
            ("{apache2}", ("./configure", "-q", "CC=heddle-cc", "--with-apr={prefix}",
                           "--with-apr-util={prefix}", "--with-pcre={prefix}/bin/pcre2-config",
                           "--prefix={prefix}/httpd", "--with-mpm=event", "--enable-modules=none",
                           "--enable-mods-static=unixd authz_core log_config mime dir")),
            ("{apache2}", ("make", "-s", "-j{jobs}", "EXTRA_LIBS={client}")),
        ),
        products={"": ("{apache2}/httpd", "{apache2}", ("make", "-s", "httpd", "EXTRA_LIBS={client}"))},
        jobs=(Job("serve a page", ("-X", "-f", "{work}/httpd.conf"), client="http",
                  control=("--preempt-at", "sync"), writes=("run/httpd.pid",)),)),
]

# What apache2 is told; the threads are few so that a run under control is short.
# It looks at the directory of its pages and all above it, and when they changed: what it writes (the
# file with its process id) goes into another, and $HEDDLE_REAL must not be where others work (/tmp).
HTTPD_CONF = """ServerRoot {work}/web
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {work}/run/httpd.pid
ErrorLog /dev/stderr
DocumentRoot {work}/web
DefaultRuntimeDir {work}/web
TypesConfig /dev/null
StartServers 1
ServerLimit 1
ThreadLimit 2
ThreadsPerChild 2
MinSpareThreads 1
MaxSpareThreads 2
MaxRequestWorkers 2
"""
