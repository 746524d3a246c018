// SPDX-License-Identifier: Apache-2.0
//
// Files of every released format version stay readable. A golden file is written once, by the
// version it belongs to, and never again.
#include <gtest/gtest.h>

#include <filesystem>

#include "golden.h"
#include "sample_traces.h"
#include "trace/chunk.h"
#include "trace/dump.h"
#include "trace/file.h"
#include "trace/schedule_text.h"
#include "trace/trace_file.h"

namespace heddle::trace {
namespace {

const std::filesystem::path kGolden = HEDDLE_GOLDEN_DIRECTORY;
const std::filesystem::path kSeeds = HEDDLE_SEED_DIRECTORY;

/// A trace file as fuzz_trace_chunks.cpp takes it: the chunks without packing and checksums.
std::string unpacked(const std::string& file) {
  ChunkReader chunks(file, "golden");
  std::string out;
  while (std::optional<Chunk> chunk = chunks.next()) {
    out += static_cast<char>(static_cast<int>(chunk->type) - 1);
    out += static_cast<char>(chunk->bytes.size() & 0xff);
    out += static_cast<char>(chunk->bytes.size() >> 8);
    out += chunk->bytes;
  }
  return out;
}

TEST(Golden, TraceVersion1) {
  for (const char* name : {"lost_update", "deadlock"}) {
    std::filesystem::path file = kGolden / (std::string(name) + ".v1.trace");
    bool is_deadlock = std::string_view(name) == "deadlock";
    Trace sample = is_deadlock ? sample::deadlock() : sample::lost_update();
    if (std::getenv("HEDDLE_UPDATE_GOLDEN") != nullptr && !std::filesystem::exists(file))
      write_trace(sample, file);
    Trace read = read_trace(file);
    EXPECT_TRUE(read == sample) << name;
    sample::expect_golden(kGolden / (std::string(name) + ".v1.dump"), dump(read));
    sample::expect_golden(kSeeds / name, unpacked(read_file(file)));
  }
}

TEST(Golden, TraceVersion2) {
  const std::filesystem::path file = kGolden / "loop.v2.trace";
  if (std::getenv("HEDDLE_UPDATE_GOLDEN") != nullptr && !std::filesystem::exists(file))
    write_trace(sample::loop(), file);
  const Trace read = read_trace(file);
  EXPECT_TRUE(read == sample::loop());
  sample::expect_golden(kGolden / "loop.v2.dump", dump(read));
  sample::expect_golden(kSeeds / "loop", unpacked(read_file(file)));
}

TEST(Golden, TraceVersion3) {
  const std::filesystem::path file = kGolden / "stacks.v3.trace";
  if (std::getenv("HEDDLE_UPDATE_GOLDEN") != nullptr && !std::filesystem::exists(file))
    write_trace(sample::with_stacks(), file);
  const Trace read = read_trace(file);
  EXPECT_TRUE(read == sample::with_stacks());
  sample::expect_golden(kGolden / "stacks.v3.dump", dump(read));
  sample::expect_golden(kSeeds / "stacks", unpacked(read_file(file)));
}

TEST(Golden, ScheduleVersion1) {
  std::filesystem::path file = kGolden / "lost_update.v1.schedule";
  if (std::getenv("HEDDLE_UPDATE_GOLDEN") != nullptr && !std::filesystem::exists(file))
    write_file(file, to_text(sample::lost_update_schedule()));
  EXPECT_EQ(read_schedule(file), sample::lost_update_schedule());
  EXPECT_EQ(to_text(read_schedule(file)), read_file(file));
}

TEST(Golden, ScheduleVersion2) {
  std::filesystem::path file = kGolden / "skipped_iterations.v2.schedule";
  Schedule schedule = sample::lost_update_schedule();
  schedule.absent_threads = {"t0.3"};
  schedule.skipped = {{"t0.1", "worker+3.call.1", 1, 6}, {"t0.1", "worker+3.call.1", 8, 10}};
  if (std::getenv("HEDDLE_UPDATE_GOLDEN") != nullptr && !std::filesystem::exists(file))
    write_file(file, to_text(schedule));
  EXPECT_EQ(read_schedule(file), schedule);
  EXPECT_EQ(to_text(read_schedule(file)), read_file(file));
}

TEST(Golden, ScheduleVersion3) {
  std::filesystem::path file = kGolden / "skipped_at_once.v3.schedule";
  Schedule schedule = sample::lost_update_schedule();
  schedule.skipped = {{"t0", "main+3.loop.1", 1, 6, 1, true},
                      {"t0.1", "worker+3.call.1", 8, 10, 0, true},
                      {"t0.1", "worker+3.call.1", 12, 12, 2, false}};
  if (std::getenv("HEDDLE_UPDATE_GOLDEN") != nullptr && !std::filesystem::exists(file))
    write_file(file, to_text(schedule));
  EXPECT_EQ(read_schedule(file), schedule);
  EXPECT_EQ(to_text(read_schedule(file)), read_file(file));
}

TEST(Golden, ScheduleVersion3WithTwoFailures) {
  std::filesystem::path file = kGolden / "two_failures.v3.schedule";
  Schedule schedule = sample::lost_update_schedule();
  schedule.ends_with = "t0.2";
  if (std::getenv("HEDDLE_UPDATE_GOLDEN") != nullptr && !std::filesystem::exists(file))
    write_file(file, to_text(schedule));
  EXPECT_EQ(read_schedule(file), schedule);
  EXPECT_EQ(to_text(read_schedule(file)), read_file(file));
}

}  // namespace
}  // namespace heddle::trace
