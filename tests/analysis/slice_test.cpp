// SPDX-License-Identifier: Apache-2.0
#include "analysis/slice/slice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "abi/dependence_record.h"
#include "base/error.h"

namespace heddle::analysis {
namespace {

using trace::EventKind;

class SmallRun {
 public:
  SmallRun() {
    for (const char* path : {"t0", "t0.1", "t0.2"}) trace.threads.push_back({path, 0});
    for (const char* name : {"x", "y", "lock"}) {
      trace.objects.push_back({trace::ObjectKind::Static, name, 8});
    }
  }
  SmallRun& event(trace::ThreadId thread, EventKind kind, trace::ObjectIndex object = trace::kNone,
                  std::uint64_t value = 0) {
    trace::Event event;
    event.thread = thread;
    event.kind = kind;
    event.object = object;
    event.value = value;
    event.size = object < 2 ? 8 : 0;
    trace.events.push_back(event);
    return *this;
  }
  trace::Trace trace;
};

TEST(Slice, EveryKindOfDependenceBetweenThreads) {
  SmallRun run;
  run.event(0, EventKind::ThreadCreate, trace::kNone, 1).event(1, EventKind::ThreadStart);  // 0 1
  run.event(0, EventKind::Store, 0).event(1, EventKind::Load, 0);                           // 2 3
  run.event(0, EventKind::Store, 0).event(1, EventKind::Store, 0);                          // 4 5
  run.event(0, EventKind::MutexUnlock, 2).event(1, EventKind::MutexLock, 2);                // 6 7
  run.event(1, EventKind::ThreadExit).event(0, EventKind::ThreadJoin, trace::kNone, 1);     // 8 9
  EXPECT_EQ(dependences_between_threads(run.trace),
            (std::vector<Dependence>{{0, 1, DependenceKind::Fork},
                                     {2, 3, DependenceKind::WriteRead},
                                     {3, 4, DependenceKind::ReadWrite},
                                     {4, 5, DependenceKind::WriteWrite},
                                     {6, 7, DependenceKind::Synchronisation},
                                     {8, 9, DependenceKind::Join}}));
}

TEST(Slice, BytesSideBySideAreNotTheSameMemory) {
  SmallRun run;
  run.event(0, EventKind::Store, 0).event(0, EventKind::Store, 0).event(1, EventKind::Load, 0);
  for (trace::Event& event : run.trace.events) event.size = 4;
  run.trace.events[1].offset = 4;
  // What was written beside it does not hide what is read.
  EXPECT_EQ(dependences_between_threads(run.trace),
            (std::vector<Dependence>{{0, 2, DependenceKind::WriteRead}}));
  run.trace.events[2].size = 8;
  EXPECT_EQ(dependences_between_threads(run.trace),
            (std::vector<Dependence>{{0, 2, DependenceKind::WriteRead},
                                     {1, 2, DependenceKind::WriteRead}}));
}

TEST(Slice, AWholeAllocationIsFreed) {
  SmallRun run;
  run.event(0, EventKind::HeapFree, 0).event(1, EventKind::Load, 0);
  run.trace.events[0].size = 0;
  run.trace.events[1].offset = 4;
  run.trace.events[1].size = 4;
  EXPECT_EQ(dependences_between_threads(run.trace),
            (std::vector<Dependence>{{0, 1, DependenceKind::WriteRead}}));
}

TEST(Slice, EventsAtTheSameMemoryAreTold) {
  SmallRun run;
  run.event(0, EventKind::Load, 0).event(1, EventKind::Store, 0).event(1, EventKind::Store, 1);
  run.event(1, EventKind::Yield);
  Slice found;
  found.contains = {true, false, false, false};
  EXPECT_EQ(at_same_memory(run.trace, found), (std::vector<bool>{false, true, false, false}));
}

TEST(Slice, LeavesOutWhatNothingDependsOn) {
  SmallRun run;
  run.event(2, EventKind::Store, 1).event(0, EventKind::Store, 0).event(1, EventKind::Load, 0);
  run.event(0, EventKind::Store, 0);
  run.trace.outcome.kind = abi::FailureKind::Assert;
  run.trace.outcome.thread = 1;
  EXPECT_EQ(failing_event(run.trace), 2u);
  const Slice found = slice(run.trace, 2);
  EXPECT_EQ(found.contains, (std::vector<bool>{false, true, true, false}));
  EXPECT_EQ(found.size, 2u);
  EXPECT_EQ(found.reasons, (std::vector<Dependence>{{1, 2, DependenceKind::WriteRead}}));
}

TEST(Slice, OfAnotherThreadOnlyWhatCameBefore) {
  SmallRun run;
  run.event(0, EventKind::Load, 1).event(0, EventKind::Store, 0).event(0, EventKind::Store, 1);
  run.event(1, EventKind::Load, 0);
  EXPECT_EQ(slice(run.trace, 3).contains, (std::vector<bool>{true, true, false, true}));
}

TEST(Slice, RefusesAnEventThatIsNotThere) {
  SmallRun run;
  run.event(0, EventKind::Yield);
  EXPECT_THROW(slice(run.trace, 1), Error);
}

/// A table of dependences in which instruction `first` of each pair depends on `second`.
std::string table(std::uint32_t instructions,
                  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs) {
  std::sort(pairs.begin(), pairs.end());
  const abi::DependenceHeader header{abi::kDependenceMagic, abi::kDependenceVersion, instructions,
                                     instructions + 1, static_cast<std::uint32_t>(pairs.size())};
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t node = 0; node <= instructions + 1; ++node) {
    numbers.push_back(static_cast<std::uint32_t>(std::count_if(
        pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first < node; })));
  }
  for (const auto& [from, to] : pairs) numbers.push_back(to);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  return bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4);
}

/// Sites of the trace are instructions 1, 2, ... of the program.
struct RunWithCode {
  RunWithCode& event(trace::ThreadId thread, EventKind kind, std::uint32_t instruction,
                     trace::ObjectIndex object) {
    run.event(thread, kind, object);
    run.trace.events.back().site = instruction - 1;
    return *this;
  }
  std::vector<bool> sliced(const std::string& section, std::size_t at) {
    const ir::DependenceGraph graph = ir::DependenceGraph::parse(section, "test");
    std::vector<std::uint32_t> instructions(graph.instruction_count());
    std::iota(instructions.begin(), instructions.end(), 1u);
    const Code code{graph, instructions};
    return slice(run.trace, at, &code).contains;
  }
  SmallRun run;
};

TEST(Slice, WithinAThreadWhatTheCodeDependsOn) {
  RunWithCode run;
  run.event(0, EventKind::Load, 1, 0).event(0, EventKind::Load, 2, 1);
  run.event(0, EventKind::MutexLock, 3, 2).event(0, EventKind::Store, 4, 1);
  EXPECT_EQ(run.sliced(table(4, {{4, 2}}), 3), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(run.sliced(table(4, {{4, 1}}), 3), (std::vector<bool>{true, false, true, true}));
  EXPECT_EQ(run.sliced(table(4, {{4, 2}, {2, 1}}), 3), (std::vector<bool>{true, true, true, true}));
}

TEST(Slice, WithinAThreadWhatItWroteAndReadAgain) {
  RunWithCode run;
  run.event(0, EventKind::Store, 1, 0).event(0, EventKind::Store, 2, 1);
  run.event(0, EventKind::Load, 3, 0);
  EXPECT_EQ(run.sliced(table(3, {}), 2), (std::vector<bool>{true, false, true}));
}

TEST(Slice, WhatIsOfNoKnownInstructionMayDependOnAll) {
  RunWithCode run;
  run.event(0, EventKind::Store, 1, 0).event(0, EventKind::Load, 2, 1);
  run.run.trace.events.back().site = trace::kNone;
  EXPECT_EQ(run.sliced(table(2, {}), 1), (std::vector<bool>{true, true}));
}

TEST(Slice, ADamagedTableIsRefused) {
  const std::string whole = table(3, {{3, 1}, {2, 1}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(ir::DependenceGraph::parse(whole.substr(0, size), "test"), Error) << size;
  }
  EXPECT_THROW(ir::DependenceGraph::parse(table(3, {{3, 9}}), "test"), Error);
}

}  // namespace
}  // namespace heddle::analysis
