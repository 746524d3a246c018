// SPDX-License-Identifier: Apache-2.0
#include "sample_traces.h"

#include <string>

#include "trace_builder.h"

namespace heddle::sample {
namespace {

using trace::EventKind;
using trace::FailureKind;
using trace::ObjectKind;
using trace::SiteIndex;
using trace::Trace;

}  // namespace

Trace lost_update() {
  TraceBuilder b("./counter", "/src/counter.c");
  SiteIndex create1 = b.site("main+2.call.1", "main", 15, 3, "pthread_create");
  SiteIndex create2 = b.site("main+3.call.1", "main", 16, 3, "pthread_create");
  SiteIndex join1 = b.site("main+4.call.1", "main", 17, 3, "pthread_join");
  SiteIndex join2 = b.site("main+5.call.1", "main", 18, 3, "pthread_join");
  SiteIndex check = b.site("main+6.load.1", "main", 19, 10);
  SiteIndex load = b.site("worker+2.load.1", "worker", 8, 14);
  SiteIndex store = b.site("worker+3.store.1", "worker", 9, 11);
  b.object("counter", ObjectKind::Static, 4);

  b.start("t0");
  b.event(EventKind::ThreadCreate, "t0", create1, {.value = b.thread("t0.1")});
  b.event(EventKind::ThreadCreate, "t0", create2, {.value = b.thread("t0.2")});
  b.start("t0.1");
  b.event(EventKind::Load, "t0.1", load, {.object = "counter", .size = 4, .value = 0});
  b.start("t0.2");
  b.event(EventKind::Load, "t0.2", load, {.object = "counter", .size = 4, .value = 0});
  b.event(EventKind::Store, "t0.2", store, {.object = "counter", .size = 4, .value = 1});
  b.exit("t0.2");
  b.event(EventKind::Store, "t0.1", store, {.object = "counter", .size = 4, .value = 1});
  b.exit("t0.1");
  b.event(EventKind::ThreadJoin, "t0", join1, {.value = b.thread("t0.1")});
  b.event(EventKind::ThreadJoin, "t0", join2, {.value = b.thread("t0.2")});
  b.event(EventKind::Load, "t0", check, {.object = "counter", .size = 4, .value = 1});

  b.outcome().kind = FailureKind::Assert;
  b.outcome().signal = 6;
  b.outcome().thread = b.thread("t0");
  b.outcome().site = check;
  b.outcome().message = "counter == 2";
  b.outcome().file = "counter.c";
  b.outcome().function = "main";
  b.outcome().line = 19;
  return b.take();
}

Trace loop() {
  using trace::Step;
  using trace::StepKind;
  Trace trace = lost_update();
  const auto site = [&trace](const char* key, std::uint32_t line) {
    trace.sites.push_back({key, "", {{"worker", "/src/counter.c", line, 3}}});
    return static_cast<SiteIndex>(trace.sites.size() - 1);
  };
  const SiteIndex function = site("worker+0.function.1", 6);
  const SiteIndex around = site("worker+1.loop.1", 7);
  const SiteIndex branch = site("worker+1.branch.1", 7);
  const trace::ThreadId worker = 1;
  trace.steps = {{StepKind::CallEnter, worker, function, 4, 0},
                 {StepKind::LoopEnter, worker, around, 4, 0},
                 {StepKind::LoopIteration, worker, around, 4, 0},
                 {StepKind::Branch, worker, branch, 9, 1},
                 {StepKind::LoopExit, worker, around, 9, 0},
                 {StepKind::CallExit, worker, function, trace.events.size(), 0}};
  trace.steps_lost = 3;
  return trace;
}

Trace with_stacks() {
  Trace trace = lost_update();
  trace.stacks = {
      {0, {{"abort", "", 0, 0}, {"main", "/src/counter.c", 19, 3}}, true},
      {2, {{"add", "/src/counter.c", 9, 11}, {"worker", "/src/counter.c", 12, 5}}, false}};
  return trace;
}

trace::Schedule lost_update_schedule() {
  using abi::DecisionKind;
  trace::Schedule schedule;
  schedule.program = "./counter";
  schedule.build_id = "5ca1ab1e0ddba11c0ffee0000000000000000001";
  schedule.arguments = {"--name", "two words", ""};
  schedule.decisions = {
      {DecisionKind::Thread, "t0", "main+4.call.1", 1, 4, EventKind::ThreadJoin, false, "t0.1", 0,
       0, "counter.c:17:3"},
      {DecisionKind::Thread, "t0.1", "worker+3.store.1", 1, 3, EventKind::Store, true, "t0.2", 0, 2,
       "counter.c:9:11"},
      {DecisionKind::Value, "t0.2", "operator()(int, char) const+4.call.1", 1, 7,
       EventKind::CondSignal, false, "", 1, 3, "queue.cpp:31:5"},
      {DecisionKind::Thread, "t0.2", "thread_exit", 1, 4, EventKind::ThreadExit, false, "t0.1", 0,
       0, ""},
  };
  return schedule;
}

Trace deadlock() {
  TraceBuilder b("./bank", "/src/bank.c");
  SiteIndex create1 = b.site("main+2.call.1", "main", 23, 3, "pthread_create");
  SiteIndex create2 = b.site("main+3.call.1", "main", 24, 3, "pthread_create");
  SiteIndex join1 = b.site("main+4.call.1", "main", 25, 3, "pthread_join");
  SiteIndex pay_a = b.site("pay+1.call.1", "pay", 6, 3, "pthread_mutex_lock");
  SiteIndex pay_b = b.site("pay+2.call.1", "pay", 7, 3, "pthread_mutex_lock");
  SiteIndex refund_b = b.site("refund+1.call.1", "refund", 14, 3, "pthread_mutex_lock");
  SiteIndex refund_a = b.site("refund+2.call.1", "refund", 15, 3, "pthread_mutex_lock");
  b.object("a", ObjectKind::Static, 40);
  b.object("b", ObjectKind::Static, 40);

  b.start("t0");
  b.event(EventKind::ThreadCreate, "t0", create1, {.value = b.thread("t0.1")});
  b.event(EventKind::ThreadCreate, "t0", create2, {.value = b.thread("t0.2")});
  b.start("t0.1");
  b.event(EventKind::MutexLock, "t0.1", pay_a, {.object = "a"});
  b.start("t0.2");
  b.event(EventKind::MutexLock, "t0.2", refund_b, {.object = "b"});

  b.outcome().kind = FailureKind::Deadlock;
  b.outcome().waits = {
      {EventKind::ThreadJoin, b.thread("t0"), b.thread("t0.1"), join1, trace::kNone, trace::kNone,
       0},
      {EventKind::MutexLock, b.thread("t0.1"), b.thread("t0.2"), pay_b, refund_b, b.object("b"), 0},
      {EventKind::MutexLock, b.thread("t0.2"), b.thread("t0.1"), refund_a, pay_a, b.object("a"), 0},
  };
  return b.take();
}

Trace use_after_free() {
  TraceBuilder b("./shared_buffer", "/src/shared_buffer.cpp");
  const std::string buffer = "heap t0 #1 (main+1.call.1)";
  SiteIndex create = b.site("main+2.call.1", "main", 20, 15, "std::thread::thread");
  SiteIndex count = b.site("release(Buffer*)+1.atomic_rmw.1", "release(Buffer*)", 10, 7);
  SiteIndex free =
      b.site("release(Buffer*)+1.call.1", "release(Buffer*)", 10, 36, "operator delete");
  SiteIndex use = b.site("reader(Buffer*)+2.load.1", "reader(Buffer*)", 15, 15);
  b.object(buffer, ObjectKind::Heap, 8);

  b.start("t0");
  b.event(EventKind::ThreadCreate, "t0", create, {.value = b.thread("t0.1")});
  b.start("t0.1");
  b.event(EventKind::AtomicRmw, "t0.1", count, {.object = buffer, .size = 4, .value = 2, .aux = 1});
  b.event(EventKind::AtomicRmw, "t0", count, {.object = buffer, .size = 4, .value = 1, .aux = 0});
  b.event(EventKind::HeapFree, "t0", free, {.object = buffer});
  b.event(EventKind::Load, "t0.1", use, {.object = buffer, .size = 4, .offset = 4});

  b.outcome().kind = FailureKind::UseAfterFree;
  b.outcome().thread = b.thread("t0.1");
  b.outcome().site = use;
  b.outcome().related_site = free;
  return b.take();
}

Trace lost_wakeup() {
  TraceBuilder b("./mailbox", "/src/mailbox.c");
  SiteIndex create = b.site("main+2.call.1", "main", 19, 3, "pthread_create");
  SiteIndex lock = b.site("main+3.call.1", "main", 20, 3, "pthread_mutex_lock");
  SiteIndex store = b.site("main+4.store.1", "main", 21, 8);
  SiteIndex signal = b.site("main+5.call.1", "main", 22, 3, "pthread_cond_signal");
  SiteIndex unlock = b.site("main+6.call.1", "main", 23, 3, "pthread_mutex_unlock");
  SiteIndex join = b.site("main+7.call.1", "main", 24, 3, "pthread_join");
  SiteIndex reader_lock = b.site("reader+1.call.1", "reader", 8, 3, "pthread_mutex_lock");
  SiteIndex reader_load = b.site("reader+2.load.1", "reader", 9, 14);
  SiteIndex reader_unlock = b.site("reader+3.call.1", "reader", 10, 3, "pthread_mutex_unlock");
  SiteIndex reader_lock2 = b.site("reader+4.call.1", "reader", 11, 3, "pthread_mutex_lock");
  SiteIndex wait = b.site("reader+5.call.1", "reader", 12, 14, "pthread_cond_wait");
  b.object("lock", ObjectKind::Static, 40);
  b.object("mail", ObjectKind::Static, 4);
  b.object("arrived", ObjectKind::Static, 48);

  b.start("t0");
  b.event(EventKind::ThreadCreate, "t0", create, {.value = b.thread("t0.1")});
  b.start("t0.1");
  b.event(EventKind::MutexLock, "t0.1", reader_lock, {.object = "lock"});
  b.event(EventKind::Load, "t0.1", reader_load, {.object = "mail", .size = 4, .value = 0});
  b.event(EventKind::MutexUnlock, "t0.1", reader_unlock, {.object = "lock"});
  b.event(EventKind::MutexLock, "t0", lock, {.object = "lock"});
  b.event(EventKind::Store, "t0", store, {.object = "mail", .size = 4, .value = 1});
  b.event(EventKind::CondSignal, "t0", signal, {.object = "arrived", .value = 0, .aux = 0});
  b.event(EventKind::MutexUnlock, "t0", unlock, {.object = "lock"});
  b.event(EventKind::MutexLock, "t0.1", reader_lock2, {.object = "lock"});
  b.event(EventKind::CondWait, "t0.1", wait, {.object = "arrived"});

  b.outcome().kind = FailureKind::LostWakeup;
  b.outcome().waits = {
      {EventKind::ThreadJoin, b.thread("t0"), b.thread("t0.1"), join, trace::kNone, trace::kNone,
       0},
      {EventKind::CondWait, b.thread("t0.1"), trace::kNone, wait, trace::kNone, b.object("arrived"),
       0},
  };
  return b.take();
}

Trace eight_threads() {
  TraceBuilder b("./stress", "/src/stress.c");
  SiteIndex create = b.site("main+2.call.1", "main", 17, 38, "pthread_create");
  SiteIndex join = b.site("main+3.call.1", "main", 18, 38, "pthread_join");
  SiteIndex check = b.site("main+4.load.1", "main", 19, 7);
  SiteIndex load = b.site("worker+2.load.1", "worker", 9, 17);
  SiteIndex store = b.site("worker+3.store.1", "worker", 10, 11);
  auto path = [](int i) { return "t0." + std::to_string(i); };
  std::uint64_t total = 0;
  auto read = [&](int thread) {
    b.event(EventKind::Load, path(thread), load, {.object = "total", .size = 8, .value = total});
    return total;
  };
  auto write = [&](int thread, std::uint64_t value) {
    total = value;
    b.event(EventKind::Store, path(thread), store, {.object = "total", .size = 8, .value = value});
  };

  b.start("t0");
  for (int i = 1; i <= 8; ++i)
    b.event(EventKind::ThreadCreate, "t0", create, {.value = b.thread(path(i))});
  for (int i = 1; i <= 8; ++i) {
    b.start(path(i));
    for (int round = 0; round < 20; ++round) {
      std::uint64_t seen = read(i);
      // The sixth thread is interrupted once, between reading and writing.
      if (i == 6 && round == 10) {
        b.start(path(7));
        for (int other = 0; other < 20; ++other) write(7, read(7) + 1);
        b.exit(path(7));
      }
      write(i, seen + 1);
    }
    b.exit(path(i));
    if (i == 6) ++i;
  }
  for (int i = 1; i <= 8; ++i)
    b.event(EventKind::ThreadJoin, "t0", join, {.value = b.thread(path(i))});
  b.event(EventKind::Load, "t0", check, {.object = "total", .size = 8, .value = total});
  b.outcome().kind = FailureKind::Exit;
  b.outcome().exit_code = 3;
  b.outcome().thread = b.thread("t0");
  return b.take();
}

}  // namespace heddle::sample
