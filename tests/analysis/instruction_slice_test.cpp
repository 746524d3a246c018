// SPDX-License-Identifier: Apache-2.0
#include "analysis/slice/instruction_slice.h"

#include <gtest/gtest.h>

#include <numeric>

#include "abi/dependence_record.h"
#include "base/error.h"
#include "small_path.h"

namespace heddle::analysis {
namespace {

using trace::EventKind;
using Numbers = std::vector<std::uint32_t>;

/// A run of a small program: sites of the trace are its instructions 1, 2, ...
class SmallRun {
 public:
  SmallRun() {
    for (const char* name : {"t0", "t0.1"}) trace.threads.push_back({name, 0});
    trace.objects.push_back({trace::ObjectKind::Static, "x", 8});
    trace.objects.push_back({trace::ObjectKind::Static, "y", 8});
    trace.outcome.kind = abi::FailureKind::Assert;
    trace.outcome.thread = 0;
  }

  /// The event is in the path from the next item on, unless `path` is told so.
  SmallRun& event(trace::ThreadId thread, EventKind kind, std::uint32_t instruction,
                  trace::ObjectIndex object = trace::kNone, std::uint64_t value = 0) {
    trace::Event event;
    event.thread = thread;
    event.kind = kind;
    event.site = instruction == 0 ? trace::kNone : instruction - 1;
    event.object = object;
    event.value = value;
    event.size = 8;
    trace.events.push_back(event);
    path.events(1);
    return *this;
  }

  Path read(std::uint64_t first_event = 0) {
    const ir::ProgramCode program = ir::ProgramCode::parse(code.bytes(), "test");
    return read_path(path.bytes, first_event, program, trace, sites(program));
  }

  /// Of the failure, unless of event `at`.
  InstructionSlice sliced(std::optional<std::size_t> at = std::nullopt,
                          std::uint64_t first_event = 0) {
    const ir::ProgramCode program = ir::ProgramCode::parse(code.bytes(), "test");
    const ir::DependenceGraph graph = ir::DependenceGraph::parse(no_dependences(), "test");
    const Code static_code{graph, sites(program)};
    return slice_instructions(trace, read(first_event), program, static_code, at);
  }
  Numbers instructions(std::optional<std::size_t> at = std::nullopt) {
    return sliced(at).instructions[0];
  }

  trace::Trace trace;
  SmallCode code;
  SmallPath path;

 private:
  Numbers sites(const ir::ProgramCode& program) const {
    Numbers numbers(program.instruction_count());
    std::iota(numbers.begin(), numbers.end(), 1u);
    return numbers;
  }
  std::string no_dependences() const {
    const auto count = static_cast<std::uint32_t>(code.instructions.size());
    const abi::DependenceHeader header{abi::kDependenceMagic, abi::kDependenceVersion, count,
                                       count + 1, 0};
    return std::string(reinterpret_cast<const char*>(&header), sizeof header)
        .append((count + 2) * sizeof(std::uint32_t), '\0');
  }
};

/// A thread that begins with its first event and ends in a call out of the program, like a failed
/// assertion.
TEST(InstructionSlice, ValuesDependOnWhatTheyWereComputedFrom) {
  SmallRun run;
  run.code.function();
  run.code.block();
  const auto a = run.code.value();
  run.code.value();  // unused
  const auto c = run.code.value({a});
  const auto fails = run.code.call_outside({c});
  run.event(0, EventKind::Yield, 0);
  run.path.enter(100).block(1).call(fails);
  const InstructionSlice found = run.sliced();
  EXPECT_EQ(found.instructions[0], (Numbers{a, c, fails}));
  EXPECT_EQ(found.instances, 3u);
  EXPECT_EQ(found.slice.contains, (std::vector<bool>{true}));
  EXPECT_EQ(run.read().instructions, 4u);
}

TEST(InstructionSlice, APhiDependsOnTheEdgeThatWasTaken) {
  SmallRun run;
  run.code.function();
  const auto entry = run.code.block();
  const auto condition = run.code.value();
  const auto branch = run.code.branch({condition});
  const auto left = run.code.block({branch});
  const auto on_left = run.code.value();
  const auto right = run.code.block({branch});
  const auto on_right = run.code.value();
  run.code.block();
  const auto phi = run.code.phi({left, on_left, right, on_right});
  const auto fails = run.code.call_outside({phi});
  run.event(0, EventKind::Yield, 0);
  run.path.enter(100).block(1).block(on_right).block(phi).call(fails);
  EXPECT_EQ(run.instructions(), (Numbers{condition, branch, on_right, phi, fails}));
  (void)entry;
}

TEST(InstructionSlice, PhisOfABlockAreComputedAtOnce) {
  // a, b = b, a: each is the other one's value of the round before.
  SmallRun run;
  run.code.function();
  const auto entry = run.code.block();
  const auto first = run.code.value();
  const auto second = run.code.value();
  const auto loop = run.code.block();
  const auto a = run.code.phi({entry, first, loop, 4});
  const auto b = run.code.phi({entry, second, loop, a});
  ASSERT_EQ(b, 4u);
  run.code.value();
  run.code.block();
  const auto fails = run.code.call_outside({a});
  run.event(0, EventKind::Yield, 0);
  run.path.enter(100).block(1).block(a).block(a).block(fails).call(fails);
  // After two rounds a is what b began with.
  EXPECT_EQ(run.instructions(), (Numbers{second, a, b, fails}));
  // Both together are what both began with.
  run.code.words.push_back(a);
  run.code.words.push_back(b);
  run.code.instructions[fails - 1].first_word =
      static_cast<std::uint32_t>(run.code.words.size()) - 2;
  EXPECT_EQ(run.instructions(), (Numbers{first, second, a, b, fails}));
}

TEST(InstructionSlice, OnlyTheLastRoundOfALoopCounts) {
  SmallRun run;
  run.code.function();
  run.code.block();
  const auto start = run.code.value();
  const auto loop = run.code.block();
  const auto load = run.code.load({}, abi::kHooked);
  const auto again = run.code.branch({load});
  run.code.blocks[loop].first_word = static_cast<std::uint32_t>(run.code.words.size());
  run.code.blocks[loop].word_count = 1;
  run.code.words.push_back(again);
  run.code.block();
  const auto fails = run.code.call_outside({load});
  run.path.enter(100).block(start);
  run.path.block(load);
  run.event(0, EventKind::Load, load, 0).path.access(load, 0x1000);
  run.path.block(load);
  run.event(0, EventKind::Load, load, 0).path.access(load, 0x1000);
  run.path.block(fails).call(fails);
  // The second load is decided upon by the branch of the first round, that by the first load.
  EXPECT_EQ(run.sliced().slice.contains, (std::vector<bool>{true, true}));
  // Without that decision the first round does not matter.
  run.code.blocks[loop].word_count = 0;
  const InstructionSlice found = run.sliced();
  EXPECT_EQ(found.slice.contains, (std::vector<bool>{false, true}));
  EXPECT_EQ(found.instances, 2u);
}

TEST(InstructionSlice, ABlockDependsOnTheLastOfItsDecisions) {
  SmallRun run;
  run.code.function();
  run.code.block();
  const auto early = run.code.value();
  const auto first = run.code.branch({early});
  run.code.block({first});
  const auto late = run.code.value();
  const auto second = run.code.branch({late});
  run.code.block({first, second});
  const auto fails = run.code.call_outside();
  run.event(0, EventKind::Yield, 0);
  run.path.enter(100).block(1).block(late).block(fails).call(fails);
  EXPECT_EQ(run.instructions(), (Numbers{early, first, late, second, fails}));
  // Reached from the first at once.
  SmallRun other;
  other.code = run.code;
  other.event(0, EventKind::Yield, 0);
  other.path.enter(100).block(1).block(fails).call(fails);
  EXPECT_EQ(other.instructions(), (Numbers{early, first, fails}));
}

TEST(InstructionSlice, MemoryDependsOnTheLastWriteOfItsBytes) {
  SmallRun run;
  run.code.function();
  run.code.block();
  const auto old = run.code.store();
  const auto beside = run.code.store();
  const auto write = run.code.store();
  const auto half = run.code.store();
  run.code.instructions[half - 1].bytes = 4;
  const auto load = run.code.load();
  const auto fails = run.code.call_outside({load});
  run.event(0, EventKind::Yield, 0);
  run.path.enter(100).block(1).access(old, 64).access(beside, 72).access(write, 64);
  run.path.access(half, 64).access(load, 64).call(fails);
  // The first half of what is read is of the last store, the second of the one before.
  EXPECT_EQ(run.instructions(), (Numbers{write, half, load, fails}));
}

TEST(InstructionSlice, ACopyPassesOnWhatItRead) {
  SmallRun run;
  run.code.function();
  run.code.block();
  const auto source = run.code.store();
  const auto beside = run.code.store();
  const auto copy = run.code.copy();
  const auto load = run.code.load();
  const auto fails = run.code.call_outside({load});
  run.event(0, EventKind::Yield, 0);
  run.path.enter(100).block(1).access(source, 64).access(beside, 128);
  run.path.range(copy, 64, 16).range(copy, 256, 16).access(load, 256).call(fails);
  const InstructionSlice found = run.sliced();
  EXPECT_EQ(found.instructions[0], (Numbers{source, copy, load, fails}));
  EXPECT_EQ(found.instances, 4u);
}

/// f(a, b) { return a; } called with two values.
struct Caller : SmallRun {
  Caller() {
    const auto callee = code.function();
    code.block();
    computed = code.value({arg(0)});
    unused = code.value({arg(1)});
    returned = code.ret({computed});
    code.function();
    code.block();
    given = code.value();
    other = code.value();
    call = code.call(callee, {given, other});
    fails = code.call_outside({call});
    event(0, EventKind::Yield, 0);
    path.enter(100).block(given).call(call).enter(50).block(computed).exit().call(fails);
  }
  std::uint32_t computed, unused, returned, given, other, call, fails;
};

TEST(InstructionSlice, ArgumentsAndResultsPassThroughCalls) {
  Caller run;
  EXPECT_EQ(run.instructions(),
            (Numbers{run.computed, run.returned, run.given, run.call, run.fails}));
}

TEST(InstructionSlice, ACallWhoseResultIsNotUsedDoesNotMatter) {
  Caller run;
  run.code.words[run.code.instructions[run.fails - 1].first_word] = 0;
  EXPECT_EQ(run.instructions(), (Numbers{run.fails}));
}

TEST(InstructionSlice, AFunctionCalledByCodeOutsideDependsOnAllTheCallWasGiven) {
  Caller run;
  run.code.instructions[run.call - 1].callee = 0;
  EXPECT_EQ(run.instructions(),
            (Numbers{run.computed, run.returned, run.given, run.other, run.call, run.fails}));
}

/// A store, a call out of the program, a load of the same memory.
struct AroundACall : SmallRun {
  explicit AroundACall(std::uint16_t call_flags, std::uint16_t access_flags = 0) {
    code.function();
    code.block();
    elsewhere = code.store({}, access_flags);
    given = code.value();
    outside = code.call_outside({given}, call_flags);
    load = code.load({}, access_flags);
    fails = code.call_outside({load});
    event(0, EventKind::Yield, 0);
    path.enter(100).block(1).access(elsewhere, 128).call(outside).access(load, 64).call(fails);
  }
  std::uint32_t elsewhere, given, outside, load, fails;
};

TEST(InstructionSlice, CodeOutsideMayHaveWrittenWhatIsRead) {
  AroundACall run(abi::kReadsAny | abi::kWritesAny);
  EXPECT_EQ(run.instructions(),
            (Numbers{run.elsewhere, run.given, run.outside, run.load, run.fails}));
  AroundACall reader(abi::kReadsAny);
  EXPECT_EQ(reader.instructions(), (Numbers{reader.load, reader.fails}));
  AroundACall writer(abi::kWritesAny);
  EXPECT_EQ(writer.instructions(),
            (Numbers{writer.given, writer.outside, writer.load, writer.fails}));
  // Of a variable whose address nobody has it knows nothing.
  AroundACall own(abi::kReadsAny | abi::kWritesAny, abi::kOwn);
  EXPECT_EQ(own.instructions(), (Numbers{own.load, own.fails}));
}

TEST(InstructionSlice, WhatCodeOutsideKeepsCountsOnceItIsUsed) {
  SmallRun run;
  run.code.function();
  run.code.block();
  const auto first = run.code.call_outside({}, abi::kKeeps);
  const auto pure = run.code.call_outside();
  const auto second = run.code.call_outside({}, abi::kKeeps);
  const auto fails = run.code.call_outside({second});
  run.event(0, EventKind::Yield, 0);
  run.path.enter(100).block(1).call(first).call(pure).call(second).call(fails);
  EXPECT_EQ(run.instructions(), (Numbers{first, second, fails}));
}

TEST(InstructionSlice, BetweenThreadsWhatTheEventsSay) {
  SmallRun run;
  run.code.function();  // of t0.1
  run.code.block();
  const auto computed = run.code.value();
  const auto unused = run.code.store({}, abi::kHooked);
  const auto store = run.code.store({computed}, abi::kHooked);
  run.code.ret();
  run.code.function();  // main
  run.code.block();
  const auto created = run.code.call_outside();
  const auto load = run.code.load({}, abi::kHooked);
  const auto fails = run.code.call_outside({load});
  run.path.enter(100).block(created).call(created);
  run.event(0, EventKind::ThreadCreate, created, trace::kNone, 1);  // 0
  run.event(1, EventKind::ThreadStart, 0);                          // 1
  run.path.thread(1).enter(200).block(computed);
  run.event(1, EventKind::Store, unused, 1).path.access(unused, 0x2000);  // 2
  run.event(1, EventKind::Store, store, 0).path.access(store, 0x1000);    // 3
  run.path.thread(0);
  run.event(0, EventKind::Load, load, 0).path.access(load, 0x1000);  // 4
  run.path.call(fails);
  const InstructionSlice found = run.sliced();
  EXPECT_EQ(found.slice.contains, (std::vector<bool>{true, true, false, true, true}));
  EXPECT_EQ(found.slice.size, 4u);
  EXPECT_EQ(found.instructions[0], (Numbers{created, load, fails}));
  EXPECT_EQ(found.instructions[1], (Numbers{computed, store}));
  ASSERT_EQ(found.slice.reasons.size(), 1u);
  EXPECT_EQ(found.slice.reasons[0], (Dependence{3, 4, DependenceKind::WriteRead}));
}

TEST(InstructionSlice, AnOverwrittenValueOfAnotherThreadCountsAsLeanSays) {
  // W->W and R->W are dependences between threads: without them a replay could read another value.
  SmallRun run;
  run.code.function();
  run.code.block();
  const auto first = run.code.store({}, abi::kHooked);
  run.code.ret();
  run.code.function();
  run.code.block();
  const auto second = run.code.store({}, abi::kHooked);
  const auto fails = run.code.call_outside();
  run.path.thread(1).enter(200).block(first);
  run.event(1, EventKind::Store, first, 0).path.access(first, 0x1000);
  run.path.thread(0).enter(100).block(second);
  run.event(0, EventKind::Store, second, 0).path.access(second, 0x1000);
  run.path.call(fails);
  const InstructionSlice found = run.sliced(1);
  EXPECT_EQ(found.slice.contains, (std::vector<bool>{true, true}));
  EXPECT_EQ(found.instructions[1], (Numbers{first}));
}

TEST(InstructionSlice, WhereAnExceptionCameFromCounts) {
  SmallRun run;
  const auto callee = run.code.function();
  run.code.block();
  const auto thrown = run.code.value();
  const auto raises = run.code.call_outside({thrown});
  run.code.function();
  run.code.block();
  const auto invoke = run.code.call(callee, {}, abi::kBranches);
  run.code.block({invoke});
  const auto fails = run.code.call_outside();
  run.event(0, EventKind::Yield, 0);
  run.path.enter(100).block(invoke).call(invoke).enter(50).block(thrown).call(raises);
  run.path.landed(100).block(fails).call(fails);
  EXPECT_EQ(run.instructions(), (Numbers{thrown, raises, invoke, fails}));
}

TEST(InstructionSlice, AnAccessThatFaultedIsTheFailure) {
  SmallRun run;
  run.code.function();
  run.code.block();
  const auto pointer = run.code.value();
  run.code.value();
  const auto load = run.code.load({pointer});
  const auto behind = run.code.value({load});
  run.event(0, EventKind::Yield, 0);
  run.path.enter(100).block(1);
  const Numbers found = run.instructions();
  EXPECT_EQ(std::count(found.begin(), found.end(), pointer), 1);
  EXPECT_EQ(std::count(found.begin(), found.end(), load), 1);
  EXPECT_EQ(std::count(found.begin(), found.end(), behind), 0);
}

TEST(InstructionSlice, WhatIsOfNoKnownInstructionIsOfTheCallItIsIn) {
  SmallRun run;
  run.code.function();
  run.code.block();
  const auto given = run.code.value();
  const auto other = run.code.value();
  const auto outside = run.code.call_outside({given});
  const auto fails = run.code.call_outside();
  run.path.enter(100).block(1).call(outside);
  run.event(0, EventKind::MutexLock, 0, 1).path.call(fails);
  EXPECT_EQ(run.instructions(), (Numbers{given, outside, fails}));
  (void)other;
}

TEST(InstructionSlice, WithoutThePathOfAnEventAllOfItsThreadCounts) {
  SmallRun run;
  run.code.function();
  run.code.block();
  const auto value = run.code.value();
  const auto fails = run.code.call_outside();
  run.path.enter(100).block(1).call(fails).exit();
  run.event(0, EventKind::RangeRead, 0, 1);
  EXPECT_EQ(run.instructions(0), (Numbers{value, fails}));
}

TEST(InstructionSlice, OutsideTheWindowTheCodeIsFollowed) {
  SmallRun run;
  run.code.function();
  run.code.block();
  const auto early = run.code.load({}, abi::kHooked);
  const auto load = run.code.load({}, abi::kHooked);
  const auto fails = run.code.call_outside({load});
  run.event(0, EventKind::Load, early, 1);
  run.event(0, EventKind::MutexLock, fails, 1);
  run.path = SmallPath();
  run.path.events(2).block(1);
  run.event(0, EventKind::Load, load, 0).path.access(load, 0x1000).call(fails);
  const InstructionSlice found = run.sliced(std::nullopt, 2);
  // Synchronisation always counts; by the code nothing depends on the other load.
  EXPECT_EQ(found.slice.contains, (std::vector<bool>{false, true, true}));
}

TEST(Path, IsRefusedWhereItDoesNotFitTheCode) {
  Caller run;
  const std::string whole = run.path.bytes;
  for (const SmallPath& path :
       {SmallPath().block(2), SmallPath().block(77), SmallPath().call(1), SmallPath().access(1, 0),
        SmallPath().thread(9), SmallPath().events(9)}) {
    run.path = path;
    EXPECT_THROW(run.read(), Error);
  }
  run.path.bytes = std::string(11, '\xff');
  EXPECT_THROW(run.read(), Error);
  // A run may end at any byte: what is cut short within a number is refused, else it is an end.
  for (std::size_t size = 0; size < whole.size(); ++size) {
    run.path.bytes = whole.substr(0, size);
    try {
      run.sliced();
    } catch (const Error&) {
    }
  }
}

TEST(ProgramCode, IsRefusedWhereItIsDamaged) {
  const Caller run;
  const std::string whole = run.code.bytes();
  EXPECT_NO_THROW(ir::ProgramCode::parse(whole, "test"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(ir::ProgramCode::parse(whole.substr(0, size), "test"), Error) << size;
  }
  const auto refused = [&](auto damage) {
    SmallCode code = run.code;
    damage(code);
    EXPECT_THROW(ir::ProgramCode::parse(code.bytes(), "test"), Error);
  };
  refused([](SmallCode& code) { code.functions[1].first_block = 7; });
  refused([](SmallCode& code) { code.functions[0].first_block = 1; });
  refused([](SmallCode& code) { code.blocks[1].first_instruction = 1; });
  refused([](SmallCode& code) { code.blocks[0].word_count = 1000; });
  refused([](SmallCode& code) { code.instructions[0].word_count = 1000; });
  refused([](SmallCode& code) { code.instructions[0].file = 1000; });
  refused([](SmallCode& code) { code.instructions[0].callee = 9; });
  refused([](SmallCode& code) { code.instructions[0].kind = static_cast<abi::CodeKind>(9); });
  refused([](SmallCode& code) { code.instructions[0].kind = abi::CodeKind::Phi; });
  refused([](SmallCode& code) { code.words[code.instructions[2].first_word] = 99; });
  refused([](SmallCode& code) { code.strings.back() = 'x'; });
}

}  // namespace
}  // namespace heddle::analysis
