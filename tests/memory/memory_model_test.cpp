// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/memory_model.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "abi/names.h"
#include "runtime/base/address_space.h"
#include "runtime/base/thread_slots.h"

namespace heddle::runtime {
namespace {

constexpr abi::ThreadIndex kFirst = 1;
constexpr abi::ThreadIndex kSecond = 2;

class Model : public testing::TestWithParam<const char*> {
 protected:
  Model() : model_(*find_memory_model(GetParam())) { model_.begin_run(); }

  static std::uint64_t at(const std::uint64_t& variable) {
    return reinterpret_cast<std::uint64_t>(&variable);
  }
  void store(abi::ThreadIndex thread, std::uint64_t address, std::uint64_t value) {
    model_.store(thread, {address, value, abi::kUnknownSite, 8, false});
  }

  MemoryModel& model_;
  // Not on this test's own stack, which is the first thread's.
  static inline std::uint64_t x_, y_;
};

class BufferedModel : public Model {};

TEST_P(Model, AThreadReadsItsOwnStore) {
  x_ = 0;
  store(kFirst, at(x_), 7);
  EXPECT_EQ(model_.load(kFirst, at(x_), 8), 7u);
}

TEST_P(BufferedModel, OthersReadItOnceItIsFlushed) {
  x_ = 0;
  store(kFirst, at(x_), 7);
  EXPECT_EQ(model_.load(kSecond, at(x_), 8), 0u);
  EXPECT_EQ(model_.pending(kFirst), 1u);
  EXPECT_EQ(model_.flush(kFirst, 0).value, 7u);
  EXPECT_EQ(model_.load(kSecond, at(x_), 8), 7u);
  EXPECT_EQ(model_.pending(kFirst), 0u);
}

TEST_P(BufferedModel, OnlyPsoChoosesAmongLocations) {
  store(kFirst, at(x_), 1);
  store(kFirst, at(y_), 1);
  EXPECT_EQ(model_.flush_choices(kFirst), std::string_view(GetParam()) == "pso" ? 2u : 1u);
}

TEST_P(BufferedModel, ALoadOfMoreThanWasStoredWaits) {
  x_ = 0;
  model_.store(kFirst, {at(x_), 1, abi::kUnknownSite, 1, false});
  EXPECT_EQ(model_.blocks_access(kFirst, at(x_), 8), kFirst);
  EXPECT_EQ(model_.blocks_access(kSecond, at(x_), 8), abi::kNoThread);
  model_.flush(kFirst, 0);
  EXPECT_EQ(model_.blocks_access(kFirst, at(x_), 8), abi::kNoThread);
}

TEST_P(BufferedModel, AFullBufferWaits) {
  for (int i = 0; i < 64; ++i) store(kFirst, at(x_), 1);
  EXPECT_EQ(model_.blocks_access(kFirst, at(y_), 8), kFirst);
}

class Stack {
 public:
  explicit Stack(abi::ThreadIndex thread)
      : thread_(thread),
        address_(kStackBase + (thread_slots().take(thread, 0, thread, 0) + 1) * kStackSlot - 4096) {
    memory_ = mmap(reinterpret_cast<void*>(address_), 4096, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  }
  ~Stack() {
    munmap(memory_, 4096);
    thread_slots().give_back(thread_);
  }
  std::uint64_t address() const { return address_; }

 private:
  abi::ThreadIndex thread_;
  std::uint64_t address_;
  void* memory_;
};

TEST_P(BufferedModel, AStoreToTheThreadsOwnStackIsNotPending) {
  const Stack stack(kFirst);
  store(kFirst, stack.address(), 1);
  EXPECT_EQ(model_.pending(kFirst), 0u);
  EXPECT_EQ(model_.load(kSecond, stack.address(), 8), 1u);
}

TEST_P(BufferedModel, WhoeverTouchesAStackWaitsForItsOwner) {
  const Stack stack(kFirst);
  store(kFirst, at(x_), 1);
  EXPECT_EQ(model_.blocks_access(kFirst, stack.address(), 8), abi::kNoThread);
  EXPECT_EQ(model_.blocks_access(kSecond, stack.address(), 8), kFirst);
  store(kSecond, stack.address(), 2);
  EXPECT_EQ(model_.blocks_flush(kSecond, 0), kFirst);
  model_.flush(kFirst, 0);
  EXPECT_EQ(model_.blocks_access(kSecond, stack.address(), 8), abi::kNoThread);
  EXPECT_EQ(model_.blocks_flush(kSecond, 0), abi::kNoThread);
}

class BufferedModelDeathTest : public BufferedModel {};

TEST_P(BufferedModelDeathTest, AStoreThatFaultsFaultsAtOnce) {
  void* const page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_DEATH(store(kFirst, reinterpret_cast<std::uint64_t>(page), 1), "");
  munmap(page, 4096);
}

INSTANTIATE_TEST_SUITE_P(All, Model, testing::ValuesIn(abi::kMemoryModels),
                         [](const auto& model) { return std::string(model.param); });
INSTANTIATE_TEST_SUITE_P(All, BufferedModelDeathTest, testing::Values("tso", "pso"),
                         [](const auto& model) { return std::string(model.param); });
INSTANTIATE_TEST_SUITE_P(All, BufferedModel, testing::Values("tso", "pso"),
                         [](const auto& model) { return std::string(model.param); });

TEST(MemoryModels, EveryNameOfTheAbiHasOne) {
  for (const char* const name : abi::kMemoryModels) EXPECT_NE(find_memory_model(name), nullptr);
  EXPECT_EQ(find_memory_model("arm"), nullptr);
}

TEST(MemoryModels, OnlyWhatHardwareLetsOvertakeAStoreDoesNotDrain) {
  using abi::EventKind;
  for (const EventKind kind : {EventKind::Load, EventKind::Store, EventKind::AtomicLoad,
                               EventKind::AtomicStore, EventKind::Fence, EventKind::Flush}) {
    EXPECT_FALSE(drains(kind)) << abi::name_of(kind);
  }
  for (const EventKind kind :
       {EventKind::AtomicRmw, EventKind::AtomicCas, EventKind::RangeRead, EventKind::RangeWrite,
        EventKind::MutexLock, EventKind::MutexUnlock, EventKind::CondWait, EventKind::CondSignal,
        EventKind::ThreadCreate, EventKind::ThreadJoin, EventKind::ThreadExit, EventKind::HeapFree,
        EventKind::Yield, EventKind::Sleep}) {
    EXPECT_TRUE(drains(kind)) << abi::name_of(kind);
  }
}

}  // namespace
}  // namespace heddle::runtime
