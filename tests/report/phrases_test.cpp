// SPDX-License-Identifier: Apache-2.0
#include "report/text/phrases.h"

#include <gtest/gtest.h>

#include <cstring>

#include "report/text/entries.h"
#include "sample_traces.h"

namespace heddle::report {
namespace {

using trace::Event;
using trace::EventKind;
using trace::kNone;

TEST(Phrases, ShowValuesAsAPersonWouldWriteThem) {
  EXPECT_EQ(human_value(7, 4), "7");
  EXPECT_EQ(human_value(0xffffffff, 4), "-1");
  EXPECT_EQ(human_value(0xffffffffffffffff, 8), "-1");
  EXPECT_EQ(human_value(0x80000000, 4), "2147483648");
  EXPECT_EQ(human_value(0xff, 1), "255");
  EXPECT_EQ(human_value(0x7ffff7a01230, 8), "0x7ffff7a01230");
  EXPECT_EQ(human_value(0x123456789abcdef0, 16), "#12345678");
}

TEST(Phrases, NameMemoryShortly) {
  trace::Trace trace = sample::use_after_free();
  EXPECT_EQ(short_memory_name(trace, 0, 4), "heap t0 #1+4");
  EXPECT_EQ(short_memory_name(trace, kNone, 4), "memory");
  trace.objects.push_back({trace::ObjectKind::Stack, "stack t0", 8 << 20});
  EXPECT_EQ(short_memory_name(trace, 1, (8 << 20) - 372), "stack t0-372");
  EXPECT_EQ(short_memory_name(trace, 1, 9 << 20), "stack t0+9437184");
}

TEST(Phrases, CoverEveryKind) {
  trace::Trace trace = sample::lost_update();
  Phrases phrases(trace, {});
  auto tell = [&](EventKind kind, std::uint64_t value, std::uint64_t aux = 0,
                  std::uint32_t size = 4) {
    return phrases.tell(Event{kind, 0, kNone, 0, size, 0, value, aux});
  };
  EXPECT_EQ(tell(EventKind::ThreadStart, 0), "starts");
  EXPECT_EQ(tell(EventKind::ThreadExit, 0), "ends");
  EXPECT_EQ(tell(EventKind::ThreadCreate, 1), "creates t0.1");
  EXPECT_EQ(tell(EventKind::ThreadJoin, 2), "joins t0.2");
  EXPECT_EQ(tell(EventKind::ThreadDetach, 2), "detaches t0.2");
  EXPECT_EQ(tell(EventKind::Store, 4), "writes counter = 4");
  EXPECT_EQ(tell(EventKind::Store, 5), "counter = 4 -> 5");
  EXPECT_EQ(tell(EventKind::Load, 5), "reads counter = 5");
  EXPECT_EQ(tell(EventKind::AtomicLoad, 5), "reads counter = 5");
  EXPECT_EQ(tell(EventKind::AtomicRmw, 5, 6), "counter = 5 -> 6");
  EXPECT_EQ(tell(EventKind::AtomicStore, 7), "counter = 6 -> 7");
  EXPECT_EQ(tell(EventKind::AtomicCas, 7, 8), "counter = 7 -> 8");
  EXPECT_EQ(tell(EventKind::AtomicCas, 8, 8), "finds counter = 8, keeps it");
  EXPECT_EQ(tell(EventKind::Fence, 2), "fence acquire");
  EXPECT_EQ(tell(EventKind::RangeRead, 2, 0, 100), "reads 100 bytes of counter");
  EXPECT_EQ(tell(EventKind::RangeWrite, 2, 0, 100), "writes 100 bytes of counter");
  EXPECT_EQ(tell(EventKind::MutexLock, 0), "locks counter");
  EXPECT_EQ(tell(EventKind::MutexLock, 35), "fails to lock counter (EDEADLK)");
  EXPECT_EQ(tell(EventKind::MutexTrylock, 16), "fails to lock counter (EBUSY)");
  EXPECT_EQ(tell(EventKind::MutexUnlock, 0), "unlocks counter");
  EXPECT_EQ(tell(EventKind::MutexDestroy, 0), "destroys counter");
  EXPECT_EQ(tell(EventKind::CondWait, 0), "waits on counter");
  EXPECT_EQ(tell(EventKind::CondWake, 110), "times out on counter");
  EXPECT_EQ(tell(EventKind::CondWake, 0), "is woken on counter");
  EXPECT_EQ(tell(EventKind::CondSignal, 1, 2), "signals counter, wakes t0.1");
  EXPECT_EQ(tell(EventKind::CondSignal, 0, 0), "signals counter, nobody waits");
  EXPECT_EQ(tell(EventKind::CondBroadcast, 3), "signals counter, wakes 3");
  EXPECT_EQ(tell(EventKind::CondDestroy, 0), "destroys counter");
  EXPECT_EQ(tell(EventKind::HeapFree, 0), "frees counter");
  EXPECT_EQ(tell(EventKind::Yield, 0), "yields");
  EXPECT_EQ(tell(EventKind::Sleep, 1500000), "sleeps 1500 us");
  EXPECT_EQ(tell(EventKind::Sleep, 2000000000), "sleeps 2 s");
}

TEST(Phrases, CallNoEventByItsNameInFiles) {
  trace::Trace trace = sample::lost_update();
  Phrases phrases(trace, {});
#define HEDDLE_EVENT(id, Name, text, access)                                                       \
  EXPECT_NE(phrases.tell(Event{EventKind::Name, 0, kNone, 0, 4, 0, 0, 0}).substr(0, strlen(text)), \
            std::string_view(text) == "fence" ? "" : text);
#include "abi/events.def"
}

TEST(Phrases, KnowOtherPrimitives) {
  trace::Trace trace = sample::lost_update();
  Phrases phrases(trace, {});
  auto tell = [&](EventKind kind, std::uint64_t value, std::uint64_t aux = 0) {
    return phrases.tell(Event{kind, 0, kNone, 0, 0, 0, value, aux});
  };
  EXPECT_EQ(tell(EventKind::RwlockRead, 0), "shares counter");
  EXPECT_EQ(tell(EventKind::RwlockTryWrite, 16), "fails to lock counter (EBUSY)");
  EXPECT_EQ(tell(EventKind::SemWait, 0, 2), "takes counter, 2 left");
  EXPECT_EQ(tell(EventKind::SemPost, 0, 3), "posts counter, 3 left");
  EXPECT_EQ(tell(EventKind::BarrierWait, 1), "reaches counter, the last");
  EXPECT_EQ(tell(EventKind::OnceBegin, 0), "finds done counter");
  EXPECT_EQ(tell(EventKind::FutexWake, 2), "wakes 2 on counter");
  EXPECT_EQ(tell(EventKind::ThreadSignal, 1, 10), "sends signal 10 to t0.1");
  EXPECT_EQ(tell(EventKind::CondWake, 4), "wakes for no reason on counter");
}

TEST(Phrases, TellWhenABufferedStoreIsSeen) {
  trace::Trace trace = sample::lost_update();
  trace.header.options["memory_model"] = "tso";
  trace.objects.push_back({trace::ObjectKind::Stack, "stack t0", 100});
  Phrases phrases(trace, {});
  auto tell = [&](EventKind kind, std::uint64_t value, trace::ObjectIndex object = 0) {
    return phrases.tell(Event{kind, 0, kNone, object, 4, 0, value, 0});
  };
  EXPECT_EQ(tell(EventKind::Store, 5), "buffers counter = 5");
  EXPECT_EQ(tell(EventKind::Load, 5), "reads counter = 5");
  EXPECT_EQ(tell(EventKind::Flush, 5), "counter = 5 for all");
  EXPECT_EQ(tell(EventKind::Store, 6), "buffers counter = 6");
  EXPECT_EQ(tell(EventKind::Flush, 6), "counter = 5 -> 6 for all");
  EXPECT_EQ(tell(EventKind::Store, 1, 1), "writes stack t0-100 = 1") << "not buffered";
}

TEST(Phrases, ForgetWhatWasOverwritten) {
  trace::Trace trace = sample::lost_update();
  Phrases phrases(trace, {});
  auto store = [&](std::uint64_t offset, std::uint32_t size, std::uint64_t value) {
    return phrases.tell(Event{EventKind::Store, 0, kNone, 0, size, offset, value, 0});
  };
  store(0, 8, 1);
  store(16, 4, 1);
  EXPECT_EQ(store(4, 4, 2), "writes counter+4 = 2");
  EXPECT_EQ(store(0, 8, 3), "writes counter = 3") << "its upper half was overwritten";
  EXPECT_EQ(store(16, 4, 4), "counter+16 = 1 -> 4") << "not touched by the others";
  phrases.skip(Event{EventKind::RangeWrite, 0, kNone, 0, 32, 0, 0, 0});
  EXPECT_EQ(store(16, 4, 5), "writes counter+16 = 5");
  store(24, 8, 1);
  EXPECT_EQ(store(24, 4, 2), "writes counter+24 = 2") << "only a part of what is known";
  store(32, 4, 7);
  store(36, 4, 8);
  EXPECT_EQ(store(32, 4, 9), "counter+32 = 7 -> 9") << "its neighbour does not reach it";
  phrases.skip(Event{EventKind::Store, 0, kNone, 0, 4, 16, 9, 0});
  EXPECT_EQ(store(16, 4, 5), "counter+16 = 9 -> 5");
}

TEST(Phrases, ShortenFunctionsToTheirNames) {
  EXPECT_EQ(short_function("main"), "main");
  EXPECT_EQ(short_function("release(Buffer*)"), "release");
  EXPECT_EQ(short_function("Pool::run(std::function<void (int)>) const"), "Pool::run");
  EXPECT_EQ(short_function("Less::operator()(int, int) const"), "Less::operator()");
  EXPECT_EQ(short_function("(anonymous namespace)::work()"), "(anonymous namespace)::work");
  EXPECT_EQ(short_function("odd)"), "odd)");
}

}  // namespace
}  // namespace heddle::report
