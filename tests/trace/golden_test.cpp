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

/// Read as what it was written from, and written as it was read.
void expect_golden_schedule(const char* name, const Schedule& schedule) {
  const std::filesystem::path file = kGolden / name;
  if (std::getenv("HEDDLE_UPDATE_GOLDEN") != nullptr && !std::filesystem::exists(file))
    write_file(file, to_text(schedule));
  EXPECT_EQ(read_schedule(file), schedule);
  EXPECT_EQ(to_text(read_schedule(file)), read_file(file));
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
  expect_golden_schedule("lost_update.v1.schedule", sample::lost_update_schedule());
}

TEST(Golden, ScheduleVersion2) {
  Schedule schedule = sample::lost_update_schedule();
  schedule.absent_threads = {"t0.3"};
  schedule.skipped = {{"t0.1", "worker+3.call.1", 1, 6}, {"t0.1", "worker+3.call.1", 8, 10}};
  expect_golden_schedule("skipped_iterations.v2.schedule", schedule);
}

TEST(Golden, ScheduleVersion3) {
  Schedule schedule = sample::lost_update_schedule();
  schedule.skipped = {{"t0", "main+3.loop.1", 1, 6, 1, true},
                      {"t0.1", "worker+3.call.1", 8, 10, 0, true},
                      {"t0.1", "worker+3.call.1", 12, 12, 2, false}};
  expect_golden_schedule("skipped_at_once.v3.schedule", schedule);
}

TEST(Golden, ScheduleVersion3WithTwoFailures) {
  Schedule schedule = sample::lost_update_schedule();
  schedule.ends_with = "t0.2";
  expect_golden_schedule("two_failures.v3.schedule", schedule);
}

TEST(Golden, OverlookedAccesses) {
  Schedule schedule = sample::lost_update_schedule();
  schedule.ends_with = "t0.2";
  schedule.overlooked = {"main+2.load.1", "operator()(int, char) const+2.store.1"};
  expect_golden_schedule("overlooked.v4.schedule", schedule);
}

}  // namespace
}  // namespace heddle::trace
