// SPDX-License-Identifier: Apache-2.0
#include "analysis/order/order.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "base/error.h"

namespace heddle::analysis {
namespace {

using abi::EventKind;

/// Threads that touch stripes at random, and what each operation saw: that is what an order of them
/// has to bring back.
class RandomRun {
 public:
  explicit RandomRun(unsigned seed) : random_(seed) {
    threads_ = 1 + random_() % 5;
    for (unsigned i = 0; i < threads_; ++i) recording_.threads.push_back({"", i + 1, {}, {}});
    const unsigned operations = random_() % 200;
    for (unsigned i = 0; i < operations; ++i) operate(random_() % threads_);
  }

  Recording& recording() { return recording_; }
  std::uint64_t operations() const { return operations_; }

  /// Does every operation find the stripes as it did when it was recorded?
  void check(const TotalOrder& order) const {
    std::map<std::uint16_t, std::uint64_t> visits;
    std::vector<std::size_t> next(threads_, 0);
    for (const Turn& turn : order.turns) {
      const auto& steps = recording_.threads[turn.thread].steps;
      for (std::uint32_t i = 0; i < turn.operations; ++i) {
        std::size_t& at = next[turn.thread];
        do {
          ASSERT_LT(at, steps.size());
          ASSERT_EQ(steps[at].sequence, visits[steps[at].stripe]++);
          ++at;
        } while (at < steps.size() && steps[at].kind == EventKind::None);
      }
    }
  }

 private:
  void operate(unsigned thread) {
    ++operations_;
    auto& steps = recording_.threads[thread].steps;
    EventKind kind = EventKind::Store;
    const unsigned first = random_() % 8;
    for (unsigned stripe = first; stripe < first + 1 + random_() % 3; ++stripe) {
      const auto number = static_cast<std::uint16_t>(stripe);
      steps.push_back({visits_[number]++, 16, kind, number});
      kind = EventKind::None;
    }
  }

  std::mt19937 random_;
  unsigned threads_ = 0;
  std::uint64_t operations_ = 0;
  std::map<std::uint16_t, std::uint64_t> visits_;
  Recording recording_;
};

TEST(Order, GivesEveryOperationWhatItSaw) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomRun run(seed);
    const TotalOrder order = order_of(run.recording());
    run.check(order);
    EXPECT_EQ(order.operations + order.left_out, run.operations());
  }
}

TEST(Order, OfACutLogIsAsLongAsItCanBe) {
  std::mt19937 random(5);
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomRun run(seed);
    for (RecordedThread& thread : run.recording().threads) {
      if (!thread.steps.empty()) thread.steps.resize(random() % (thread.steps.size() + 1));
    }
    run.check(order_of(run.recording()));
  }
}

TEST(Order, SwitchesOnlyWhereItMust) {
  Recording recording;
  recording.threads.resize(2);
  for (std::uint64_t i = 0; i < 10; ++i) {
    recording.threads[0].steps.push_back({i, 16, EventKind::Load, 1});
    recording.threads[1].steps.push_back({i, 17, EventKind::Load, 2});
  }
  recording.last = 1;
  EXPECT_EQ(order_of(recording).turns.size(), 2u);
}

// It did not come back from it: whatever else was done was done before, or did not matter.
TEST(Order, EndsWithTheOperationThatEndedTheRun) {
  Recording recording;
  recording.threads.resize(2);
  recording.threads[0].steps = {{0, 16, EventKind::Load, 1}};
  recording.threads[1].steps = {{0, 17, EventKind::Store, 2}, {1, 18, EventKind::Store, 1}};
  recording.last = 0;
  const TotalOrder order = order_of(recording);
  ASSERT_EQ(order.turns.size(), 3u);
  EXPECT_EQ(order.turns[0].thread, 1u);
  EXPECT_EQ(order.turns[1].thread, 0u);
}

TEST(Order, LeavesOutWhatASignalInterrupted) {
  Recording recording;
  recording.threads.resize(3);
  recording.threads[0].steps = {{0, 16, EventKind::Load, 1}};
  recording.threads[0].stop = abi::ThreadStop::Arrived;
  recording.threads[1].steps = {
      {0, 17, EventKind::Store, 2}, {1, 18, EventKind::RangeWrite, 1}, {0, 18, EventKind::None, 3}};
  recording.threads[1].stop = abi::ThreadStop::Amid;
  recording.threads[2].stop = abi::ThreadStop::Ends;
  settle_end(recording, 0);
  EXPECT_EQ(recording.last, 2u);
  EXPECT_EQ(recording.threads[0].steps.size(), 1u);
  EXPECT_EQ(recording.threads[1].steps.size(), 1u);
}

TEST(Order, KnowsWhoWasBetweenTwoOperations) {
  Recording recording;
  recording.threads.resize(2);
  recording.threads[0].stop = abi::ThreadStop::Arrived;
  EXPECT_FALSE(any_under_way(recording)) << "the other one has not begun";
  recording.threads[1].steps = {{0, 16, EventKind::Load, 1}};
  EXPECT_TRUE(any_under_way(recording));
  settle_end(recording, 1);
  EXPECT_EQ(recording.last, 1u);
  EXPECT_FALSE(any_under_way(recording));
}

/// Two threads: three chunks of steps, and one of what they were told.
class Log {
 public:
  Log() : bytes_(kChunks + 4 * sizeof(abi::RecordingChunk), 0) {
    abi::RecordingHeader header{};
    std::memcpy(header.magic, abi::kRecordingMagic, sizeof header.magic);
    header.version = abi::kRecordingVersion;
    header.text_bytes = kText.size();
    header.chunks = kChunks;
    header.capacity = 8 * sizeof(abi::RecordingChunk);
    header.segments[0].used = 4 * sizeof(abi::RecordingChunk);
    header.threads = 2;
    header.table[0] = {1, 0, abi::kNoThread, 0};
    header.table[1] = {abi::path_hash(1, 1), 1, 0, 0};
    std::memcpy(bytes_.data(), &header, sizeof header);
    bytes_.replace(sizeof header, kText.size(), kText);
    for (unsigned i = 0; i < 3; ++i) {
      abi::RecordingChunk& steps = chunk(i);
      steps.thread = i % 2;
      steps.holds = abi::ChunkHolds::Steps;
      steps.count = 100;
      for (unsigned n = 0; n < 100; ++n) steps.steps[n] = {n, 16, EventKind::Load, 7};
    }
    abi::RecordingChunk& told = chunk(3);
    told.thread = 1;
    told.holds = abi::ChunkHolds::Answers;
    const abi::Answer answers[] = {{abi::AnswerKind::Clock, 0, 0, 1234},
                                   {abi::AnswerKind::Call, 0, 5, 5}};
    std::memcpy(told.answers, answers, sizeof answers);
    std::memcpy(told.answers + sizeof answers, "hello", 5);
    told.count = sizeof answers + 8;
  }
  std::string& bytes() { return bytes_; }
  Recording read(std::size_t bytes) const {
    return read_recording(std::string_view(bytes_).substr(0, bytes), "log");
  }
  Recording read() const { return read(bytes_.size()); }

  static constexpr std::string_view kText = "what it is of";
  static constexpr std::size_t kChunks = (sizeof(abi::RecordingHeader) / 4096 + 1) * 4096;

 private:
  abi::RecordingChunk& chunk(std::size_t i) {
    return *reinterpret_cast<abi::RecordingChunk*>(bytes_.data() + kChunks +
                                                   i * sizeof(abi::RecordingChunk));
  }

  std::string bytes_;
};

TEST(Recording, ReadsEachThreadsChunksInOrder) {
  const Recording recording = Log().read();
  EXPECT_EQ(recording.text, Log::kText);
  ASSERT_EQ(recording.threads.size(), 2u);
  EXPECT_EQ(recording.threads[0].steps.size(), 200u);
  EXPECT_EQ(recording.threads[1].steps.size(), 100u);
  EXPECT_EQ(recording.threads[1].hash, abi::path_hash(1, 1));
  EXPECT_EQ(recording.threads[1].path, "t0.1");
}

TEST(Recording, GivesWhatAThreadWasTold) {
  std::vector<std::string> told;
  const Recording recording = Log().read();
  each_answer(recording.threads[1].answers, [&](const abi::Answer& answer, std::string_view bytes) {
    told.push_back(std::to_string(answer.result) + ":" + std::string(bytes));
  });
  EXPECT_EQ(told, (std::vector<std::string>{"1234:", "5:hello"}));
}

// Of an answer that is not whole nothing is told: half a message was never there.
TEST(Recording, ToldOnlyWhatIsWhole) {
  const std::string answers = Log().read().threads[1].answers;
  EXPECT_EQ(answers.size(), 40u);
  EXPECT_EQ(whole_answers(std::string_view(answers).substr(0, 39)).size(), 16u);
  EXPECT_EQ(whole_answers(std::string_view(answers).substr(0, 15)).size(), 0u);
  EXPECT_EQ(whole_answers(answers).size(), 40u);
}

TEST(Recording, CutAnywhereGivesWhatIsThereOrOneError) {
  const Log log;
  std::mt19937 random(3);
  unsigned used = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::size_t bytes = random() % (Log::kChunks + 4 * sizeof(abi::RecordingChunk) + 1);
    try {
      const Recording recording = log.read(bytes);
      ASSERT_LE(recording.threads[0].steps.size() * sizeof(abi::RecordedStep), bytes);
      order_of(recording);
      ++used;
    } catch (const Error& error) {
      ASSERT_LT(bytes, sizeof(abi::RecordingHeader) + Log::kText.size());
      ASSERT_EQ(error.code(), ExitCode::UserMistake);
    }
  }
  EXPECT_GT(used, 800u);
}

TEST(Recording, OfGarbageIsARecordingOrOneError) {
  Log log;
  std::mt19937 random(4);
  for (int i = 0; i < 1000; ++i) {
    for (int changes = 0; changes < 20; ++changes) {
      log.bytes()[random() % log.bytes().size()] = static_cast<char>(random());
    }
    for (const std::size_t chunk : {0, 1, 2, 3}) {
      log.bytes()[Log::kChunks + chunk * sizeof(abi::RecordingChunk) + random() % 16] =
          static_cast<char>(random());
    }
    if (i % 10 == 0) log.bytes()[random() % 64] = static_cast<char>(random());
    try {
      order_of(log.read());
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ExitCode::UserMistake);
      log = Log();
    }
  }
}

}  // namespace
}  // namespace heddle::analysis
