// SPDX-License-Identifier: Apache-2.0
//
// bench_pairs RUNS EVENTS: the pairs of that many made-up passing runs of that many events each,
// and the test procedures on them and one failed run. Prints the CPU seconds of collecting, of the
// procedures, and of making the runs up (not part of the figure), the different pairs, the most
// pairs one run had, and the peak of memory in megabytes.
//
// The runs are like those of a server: 16 threads go round a loop in which they take one of 64
// locks, read and write a record of its own table of 64 under it, walk a list of nodes that
// nobody changes, count in their own memory, and look at a flag without a lock; who goes on changes
// every few events.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "analysis/localise/procedures.h"

namespace heddle::analysis {
namespace {

constexpr unsigned kThreads = 16;
constexpr unsigned kLocks = 64;
constexpr unsigned kRecords = 64;
constexpr unsigned kNodes = 1024;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class MadeUpRun {
 public:
  MadeUpRun(std::uint64_t seed, std::size_t events) : random_(seed) {
    trace_.header.options["memory_model"] = "sc";
    trace_.threads.push_back({"t0", trace::kNone});
    for (const char* key : {"create", "loop", "lock", "get", "put", "unlock", "next", "count",
                            "counted", "flag", "stop", "nodes"}) {
      trace_.sites.push_back({key, "", {}});
    }
    for (unsigned i = 0; i < kLocks; ++i) object("lock" + std::to_string(i), 40);
    for (unsigned i = 0; i < kLocks; ++i) object("table" + std::to_string(i), 16 * kRecords);
    for (unsigned i = 0; i < kNodes; ++i) object("node" + std::to_string(i), 32);
    for (unsigned i = 0; i <= kThreads; ++i) object("own" + std::to_string(i), 64);
    object("flag", 4);
    trace_.events.reserve(events);
    workers_.resize(kThreads + 1);
    for (unsigned i = 1; i <= kThreads; ++i) {
      trace_.threads.push_back({"t0." + std::to_string(i), 0});
      add(0, Create, trace::EventKind::ThreadCreate, trace::kNone, 0, 0).value = i;
      step(i, trace::StepKind::LoopEnter);
    }
    while (trace_.events.size() < events) {
      const unsigned thread = 1 + static_cast<unsigned>(random_() % kThreads);
      for (std::size_t turn = random_() % 12; turn-- > 0;) {
        if (!go_on(thread)) break;
      }
    }
  }
  const trace::Trace& trace() const { return trace_; }

 private:
  enum Place : trace::SiteIndex {
    Create,
    Loop,
    Lock,
    Get,
    Put,
    Unlock,
    Next,
    Count,
    Counted,
    Flag,
    Stop
  };
  struct Worker {
    unsigned state = 0;
    unsigned lock = 0;
    unsigned record = 0;
    unsigned walked = 0;
  };

  trace::ObjectIndex object(const std::string& name, std::uint64_t size) {
    trace_.objects.push_back({trace::ObjectKind::Static, name, size});
    return static_cast<trace::ObjectIndex>(trace_.objects.size() - 1);
  }

  trace::Event& add(unsigned thread, Place site, trace::EventKind kind, trace::ObjectIndex object,
                    std::uint64_t offset, std::uint32_t size) {
    trace::Event event;
    event.kind = kind;
    event.thread = thread;
    event.site = site;
    event.object = object;
    event.offset = offset;
    event.size = size;
    trace_.events.push_back(event);
    return trace_.events.back();
  }

  void step(unsigned thread, trace::StepKind kind) {
    trace_.steps.push_back({kind, thread, Loop, trace_.events.size(), 0});
  }

  /// False: the thread has to wait.
  bool go_on(unsigned thread) {
    using trace::EventKind;
    Worker& worker = workers_[thread];
    switch (worker.state) {
      case 0:
        step(thread, trace::StepKind::LoopIteration);
        add(thread, Flag, EventKind::Load, 2 * kLocks + kNodes + kThreads + 1, 0, 4);
        worker.lock = static_cast<unsigned>(random_() % kLocks);
        worker.record = static_cast<unsigned>(random_() % kRecords);
        worker.walked = 0;
        break;
      case 1:
        if (held_[worker.lock]) return false;
        held_[worker.lock] = true;
        add(thread, Lock, EventKind::MutexLock, worker.lock, 0, 40);
        break;
      case 2:
      case 3:
        add(thread, Get, EventKind::Load, kLocks + worker.lock,
            16 * worker.record + 8 * (worker.state - 2), 8);
        break;
      case 4:
        add(thread, Put, EventKind::Store, kLocks + worker.lock, 16 * worker.record, 8);
        break;
      case 5:
        held_[worker.lock] = false;
        add(thread, Unlock, EventKind::MutexUnlock, worker.lock, 0, 40);
        break;
      case 6:
        add(thread, Next, EventKind::Load, 2 * kLocks + (worker.record + worker.walked) % kNodes, 8,
            8);
        if (++worker.walked < 8) return true;
        break;
      case 7:
        add(thread, Count, EventKind::Load, 2 * kLocks + kNodes + thread, 0, 8);
        add(thread, Counted, EventKind::Store, 2 * kLocks + kNodes + thread, 0, 8);
        break;
      default:
        if (worker.record % 512 == 0) {
          add(thread, Stop, EventKind::Store, 2 * kLocks + kNodes + kThreads + 1, 0, 4);
        }
        worker.state = 0;
        return true;
    }
    ++worker.state;
    return true;
  }

  std::mt19937_64 random_;
  trace::Trace trace_;
  std::vector<Worker> workers_;
  bool held_[kLocks] = {};
};

int bench(std::uint64_t runs, std::size_t events) {
  double making = 0;
  double collecting = 0;
  std::size_t most = 0;
  PairTable table(true);
  std::vector<RunPairs> passing;
  const auto timed = [](double& total, auto&& work) {
    const double begin = cpu_seconds();
    auto result = work();
    total += cpu_seconds() - begin;
    return result;
  };
  const auto collect = [&](const Accesses& accesses) {
    const std::vector<PairInstance> instances = immediate_pairs(accesses);
    most = std::max(most, instances.size());
    return collect_pairs(accesses, instances, table);
  };
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    const MadeUpRun run = timed(making, [&] { return MadeUpRun(seed, events); });
    passing.push_back(timed(collecting, [&] { return collect(Accesses(run.trace())); }));
  }
  const MadeUpRun failing(0, events);
  const Accesses failed(failing.trace());
  const RunPairs failed_pairs = collect(failed);
  double judging = 0;
  std::size_t candidates = 0;
  for (const Procedure procedure : {Procedure::One, Procedure::Two, Procedure::Three}) {
    for (const Level level : {Level::Pc, Level::Tid, Level::Loop}) {
      candidates += timed(judging, [&] {
        return test_procedure(procedure, level, {failed, failed_pairs, passing, table}).size();
      });
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%.2f %.2f %.2f %zu %zu %.0f %zu\n", collecting, judging, making, table.size(), most,
              static_cast<double>(usage.ru_maxrss) / 1024, candidates);
  return 0;
}

}  // namespace
}  // namespace heddle::analysis

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "bench_pairs RUNS EVENTS\n");
    return 2;
  }
  return heddle::analysis::bench(std::strtoull(arguments[1], nullptr, 10),
                                 std::strtoull(arguments[2], nullptr, 10));
}
