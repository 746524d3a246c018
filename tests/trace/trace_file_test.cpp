// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "expect_error.h"
#include "sample_traces.h"
#include "trace/bytes.h"
#include "trace/chunk.h"
#include "trace/file.h"

namespace heddle::trace {
namespace {

using sample::error_of;
using testing::HasSubstr;

std::string bytes_of(const Trace& trace) {
  std::ostringstream out;
  write_trace(trace, out);
  return out.str();
}

std::string error_in_trace(const std::string& bytes) {
  return error_of([&] { parse_trace(bytes, "bug.trace"); });
}

Trace long_trace(std::size_t events) {
  Trace trace = sample::lost_update();
  std::mt19937_64 random(3);
  while (trace.events.size() < events) {
    Event event = trace.events[random() % 10];
    event.value = random() >> (random() % 64);
    event.aux = random() >> (random() % 64);
    event.offset = random() >> (random() % 64);
    event.object = random() % 2 == 0 ? kNone : 0;
    trace.events.push_back(event);
  }
  return trace;
}

TEST(TraceFile, ReadsBackWhatItWrites) {
  for (const Trace& trace :
       {sample::lost_update(), sample::deadlock(), sample::use_after_free(), sample::lost_wakeup(),
        sample::eight_threads(), sample::loop(), Trace{}, long_trace(100000)})
    EXPECT_TRUE(parse_trace(bytes_of(trace), "x") == trace) << trace.header.program;
}

TEST(TraceFile, ReadsBackExtremeNumbers) {
  Trace trace = sample::lost_update();
  trace.outcome.exit_code = INT32_MIN;
  trace.outcome.signal = INT32_MAX;
  trace.outcome.line = UINT32_MAX;
  trace.objects[0].size = UINT64_MAX;
  for (std::uint64_t value : {UINT64_MAX, std::uint64_t{1} << 63, std::uint64_t{0}})
    trace.events.push_back(
        {EventKind::Load, 0, kNone, 0, UINT32_MAX, value, UINT64_MAX - value, value});
  EXPECT_TRUE(parse_trace(bytes_of(trace), "x") == trace);
}

TEST(TraceFile, GivesTheSameBytesForTheSameTrace) {
  EXPECT_EQ(bytes_of(long_trace(5000)), bytes_of(long_trace(5000)));
}

TEST(TraceFile, KeepsThatATraceIsIncomplete) {
  Trace trace = sample::lost_update();
  trace.complete = false;
  EXPECT_TRUE(parse_trace(bytes_of(trace), "x") == trace);
}

TEST(TraceFile, IsCompact) {
  std::size_t bytes = bytes_of(sample::eight_threads()).size();
  EXPECT_LT(bytes, 2000u) << sample::eight_threads().events.size() << " events";
}

TEST(TraceFile, IsReadableWhereverItWasCutOff) {
  Trace whole = sample::lost_update();
  std::string bytes = bytes_of(whole);
  for (std::size_t length = kFileHeaderBytes; length < bytes.size(); ++length) {
    Trace part = parse_trace(bytes.substr(0, length), "x");
    EXPECT_FALSE(part.complete) << length;
    ASSERT_LE(part.events.size(), whole.events.size());
  }
  for (std::size_t length = 0; length < kFileHeaderBytes; ++length)
    EXPECT_THAT(error_in_trace(bytes.substr(0, length)), HasSubstr("bug.trace: ")) << length;
}

TEST(TraceFile, GivesEveryEventOfTheWholeChunks) {
  Trace whole = long_trace(100000);
  std::string bytes = bytes_of(whole);
  std::size_t last = 0, steps = 0;
  for (std::size_t length = kFileHeaderBytes; length < bytes.size(); length += 4999) {
    Trace part = parse_trace(bytes.substr(0, length), "x");
    ASSERT_GE(part.events.size(), last);
    if (part.events.size() > last) ++steps;
    last = part.events.size();
    ASSERT_TRUE(std::equal(part.events.begin(), part.events.end(), whole.events.begin()));
  }
  EXPECT_GE(steps, 4u) << "several chunks of events were expected";
  EXPECT_GT(last, whole.events.size() / 2);
}

TEST(TraceFile, NoticesEveryFlippedBit) {
  std::string bytes = bytes_of(sample::lost_update());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    // The high bits of the version make it a newer version, which is an error of its own.
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_THAT(error_in_trace(flipped), HasSubstr("bug.trace: ")) << "bit " << bit;
  }
}

TEST(TraceFile, SurvivesRandomDamage) {
  std::string bytes = bytes_of(long_trace(300));
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = bytes;
    for (auto left = 1 + random() % 8; left > 0; --left)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    if (damaged == bytes) continue;
    EXPECT_THAT(error_in_trace(damaged), HasSubstr("bug.trace: "));
  }
}

TEST(TraceFile, NamesTheOffsetOfTheDamage) {
  std::string bytes = bytes_of(sample::lost_update());
  bytes[kFileHeaderBytes + kChunkHeaderBytes + 2] ^= 1;
  EXPECT_THAT(error_in_trace(bytes),
              HasSubstr("damaged trace at byte 20: wrong checksum of a chunk;"));
  bytes = bytes_of(sample::lost_update()) + "tail";
  EXPECT_THAT(error_in_trace(bytes), HasSubstr("bytes after the last chunk"));
}

TEST(TraceFile, RejectsForeignEmptyAndNewerFiles) {
  EXPECT_THAT(error_in_trace(""), HasSubstr("empty file"));
  EXPECT_THAT(error_in_trace("\x7f"
                             "ELF and so on, for more bytes than a header has"),
              HasSubstr("not a Heddle trace"));
  std::string newer = bytes_of(sample::lost_update());
  newer[8] = kTraceVersion + 1;
  EXPECT_THAT(error_in_trace(newer),
              HasSubstr("version 4, this Heddle reads up to 3; update Heddle"));
}

/// Chunks that are well-formed as such, whatever they hold.
std::string file_of(const std::vector<std::pair<ChunkType, std::string>>& chunks) {
  std::ostringstream out;
  ChunkWriter writer(out);
  for (const auto& [type, bytes] : chunks) writer.write(type, bytes);
  return out.str();
}

const std::string kEmptyHeader(3, '\0');

TEST(TraceFile, RejectsIndicesOutsideTheirTables) {
  auto event = [](std::uint32_t thread, std::int64_t site, std::int64_t object) {
    ByteWriter out;
    out.varint(static_cast<std::uint64_t>(EventKind::Load));
    out.varint(thread);
    out.signed_varint(site);
    out.signed_varint(object);
    for (int i = 0; i < 4; ++i) out.varint(0);
    return file_of({{ChunkType::Header, kEmptyHeader},
                    {ChunkType::Threads, std::string("\x02t0\0", 4)},
                    {ChunkType::Events, out.bytes()}});
  };
  EXPECT_EQ(parse_trace(event(0, 0, 0), "x").events.size(), 1u);
  EXPECT_THAT(error_in_trace(event(1, 0, 0)), HasSubstr("thread 1 of 1"));
  EXPECT_THAT(error_in_trace(event(0, 1, 0)), HasSubstr("site 0 of 0"));
  EXPECT_THAT(error_in_trace(event(0, 0, 1)), HasSubstr("object 0 of 0"));
  EXPECT_THAT(error_in_trace(event(0, -1, 0)), HasSubstr("does not fit"));
}

TEST(TraceFile, RejectsChunksThatDoNotBelongWhereTheyAre) {
  EXPECT_THAT(error_in_trace(file_of({{ChunkType::Threads, ""}})), HasSubstr("out of order"));
  EXPECT_THAT(error_in_trace(
                  file_of({{ChunkType::Header, kEmptyHeader}, {ChunkType::Header, kEmptyHeader}})),
              HasSubstr("out of order"));
  EXPECT_THAT(
      error_in_trace(file_of(
          {{ChunkType::Header, kEmptyHeader}, {ChunkType::Events, ""}, {ChunkType::Threads, ""}})),
      HasSubstr("out of order"));
  EXPECT_THAT(
      error_in_trace(file_of({{ChunkType::Header, kEmptyHeader}, {ChunkType::Footer, "\0"}})),
      HasSubstr("out of order"));
  EXPECT_THAT(error_in_trace(file_of({{ChunkType::Header, kEmptyHeader + "x"}})),
              HasSubstr("more than it should"));
  std::string outcome(11, '\0');
  EXPECT_THAT(error_in_trace(file_of({{ChunkType::Header, kEmptyHeader},
                                      {ChunkType::Outcome, outcome},
                                      {ChunkType::Footer, "\x05"}})),
              HasSubstr("events are missing"));
}

TEST(TraceFile, RejectsStepsThatCannotBe) {
  const auto error_with = [](auto change) {
    Trace trace = sample::loop();
    change(trace);
    return error_of([&] { bytes_of(trace); }, ExitCode::Defect);
  };
  EXPECT_THAT(error_with([](Trace& t) { t.steps[0].kind = StepKind{99}; }), HasSubstr("step kind"));
  EXPECT_THAT(error_with([](Trace& t) { t.steps[0].site = 99; }), HasSubstr("site 99"));
  EXPECT_THAT(error_with([](Trace& t) { t.steps[0].thread = 99; }), HasSubstr("thread 99"));
  EXPECT_THAT(error_with([](Trace& t) { t.steps[5].event = 99; }), HasSubstr("event 99"));
  Trace trace = sample::loop();
  std::swap(trace.steps[0], trace.steps[4]);
  EXPECT_THAT(error_in_trace(bytes_of(trace)), HasSubstr("steps out of order"));
}

TEST(TraceFile, RejectsForgedLengths) {
  // A text that claims to be long, inside a chunk; and a chunk that does.
  EXPECT_THAT(error_in_trace(file_of({{ChunkType::Header, "\xff\xff\xff\xff\x7f"}})),
              HasSubstr("runs over the end of its chunk"));
  EXPECT_THAT(error_in_trace(file_of({{ChunkType::Header, std::string(10, '\xff') + '\x7f'}})),
              HasSubstr("does not fit in 64 bits"));
  using Lengths = std::pair<std::uint32_t, std::uint32_t>;  // unpacked, packed
  for (Lengths lengths : {Lengths{0xf0000000, 5}, Lengths{3, 0xf0000000}}) {
    std::string file = file_of({{ChunkType::Header, kEmptyHeader}});
    ByteWriter header;
    header.u32(1);
    header.u32(lengths.first);
    header.u32(lengths.second);
    header.u32(crc32(file.substr(kFileHeaderBytes + kChunkHeaderBytes, 5)));
    header.u32(crc32(header.bytes()));
    file.replace(kFileHeaderBytes, kChunkHeaderBytes, header.bytes());
    EXPECT_THAT(error_in_trace(file), HasSubstr("longer than any chunk is"));
  }
}

TEST(TraceFile, RefusesToWriteWhatItCouldNotRead) {
  Trace trace = sample::lost_update();
  trace.events[3].site = 999;
  EXPECT_THAT(error_of([&] { bytes_of(trace); }, ExitCode::Defect), HasSubstr("site 999"));
  trace = sample::lost_update();
  trace.outcome.message.assign(2 << 20, 'x');
  EXPECT_THAT(error_of([&] { bytes_of(trace); }, ExitCode::Defect), HasSubstr("longer than"));
}

TEST(TraceFile, NamesFilesThatCannotBeReadOrWritten) {
  EXPECT_THAT(error_of([] { read_trace("/nowhere/trace"); }),
              HasSubstr("cannot read /nowhere/trace: No such file"));
  EXPECT_THAT(error_of([] { write_trace(Trace{}, "/nowhere/trace"); }, ExitCode::Environment),
              HasSubstr("cannot write /nowhere/trace: No such file"));
  EXPECT_THAT(error_of([] { read_trace("/"); }, ExitCode::Environment), HasSubstr("cannot read /"));
}

}  // namespace
}  // namespace heddle::trace
