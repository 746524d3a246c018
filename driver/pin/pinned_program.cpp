// SPDX-License-Identifier: Apache-2.0
#include "driver/pin/pinned_program.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "abi/woven.h"
#include "base/error.h"
#include "driver/build/variant.h"
#include "driver/descriptor.h"
#include "driver/pin/native_run.h"

namespace heddle::driver {
namespace {

bool is_about_freed_memory(const trace::PinnedFailure& failure) {
  return failure.kind == abi::FailureKind::UseAfterFree ||
         failure.kind == abi::FailureKind::DoubleFree;
}

/// What a program counts in while it runs; survives however it ends.
class Counts {
 public:
  Counts() : file_(memfd_create("heddle-counts", 0)) {
    constexpr std::size_t kBytes = HEDDLE_WOVEN_BREAKPOINTS * sizeof(heddle_woven_counts);
    if (file_.get() < 0 || ftruncate(file_.get(), kBytes) != 0) {
      throw environment_error("cannot make a file in memory");
    }
  }
  /// By the driver's own descriptor: the program need not inherit it.
  std::string path() const { return fmt::format("/proc/{}/fd/{}", getpid(), file_.get()); }
  std::vector<heddle_woven_counts> read() const {
    std::vector<heddle_woven_counts> all(HEDDLE_WOVEN_BREAKPOINTS);
    const std::size_t bytes = all.size() * sizeof all[0];
    if (pread(file_.get(), all.data(), bytes, 0) != static_cast<ssize_t>(bytes)) all.clear();
    return all;
  }

 private:
  Descriptor file_;
};

bool is_reached(const trace::PinBreakpoint& breakpoint, const heddle_woven_counts& counts) {
  return std::ranges::all_of(breakpoint.at, [&](const trace::PinSide& side) {
    if (side.side != trace::kEitherSide) return counts.arrivals[side.side] > 0;
    return counts.arrivals[HEDDLE_WOVEN_SIDES] >= breakpoint.sides;
  });
}

}  // namespace

PinnedProgram::PinnedProgram(const Program& program, const Inputs& inputs,
                             const trace::PinFile& file, const std::vector<trace::Pins>& sets,
                             const NativeRunOptions& options, const Progress& progress,
                             FreedMemory freed)
    : loom_(program.sites() != nullptr
                ? *program.sites()
                : throw user_error(fmt::format(
                      "{} was not built with heddle-cc or heddle-c++: breakpoints cannot be woven "
                      "into it; heddle/breakpoint.h can be used by hand",
                      program.name()))),
      inputs_(inputs),
      failure_(file.failure),
      watches_freed_(freed == FreedMemory::Watched || is_about_freed_memory(file.failure)),
      options_(options),
      original_(program.original()) {
  for (const trace::Pins& pins : sets) loom_.add(pins);
  if (watches_freed_ && !file.failed_at.site.empty()) loom_.watch(file.failed_at);
  const std::string plan = sets.size() == 1 ? loom_.plan(sets[0]) : "";
  executable_ = build::derive_variant(original_, abi::Variant::Pinned, progress,
                                      {loom_.weaving(plan), watches_freed_});
}

void PinnedProgram::run_one(const trace::Pins& pins, analysis::NativeRuns& sum) const {
  const Counts counts;
  const bool is_plain = pins.empty() && !watches_freed_;
  const NativeEnd end = run_native(is_plain ? original_ : executable_, inputs_,
                                   {fmt::format("{}={}", HEDDLE_WOVEN_PLAN, loom_.plan(pins)),
                                    fmt::format("{}={}", HEDDLE_WOVEN_COUNTS, counts.path())},
                                   options_.limit);
  ++sum.runs;
  const bool failed = shows(end, failure_);
  if (failed) {
    ++sum.failures;
    sum.seconds_to_failure.push_back(end.seconds);
  } else {
    sum.seconds_of_others.push_back(end.seconds);
    if (const std::string how = how_it_ended(end); !how.empty()) ++sum.other_failures[how];
  }
  const std::vector<heddle_woven_counts> counted = counts.read();
  bool hit = !pins.empty();
  bool reached = !pins.empty();
  for (std::size_t i = 0; i < pins.size() && i < counted.size(); ++i) {
    hit = hit && counted[i].hits > 0;
    reached = reached && is_reached(pins[i], counted[i]);
  }
  sum.hits += hit ? 1 : 0;
  sum.failed_hits += hit && failed ? 1 : 0;
  sum.reached += reached ? 1 : 0;
}

analysis::NativeRuns PinnedProgram::run(const trace::Pins& pins, std::uint32_t runs) {
  std::atomic<std::uint32_t> next = 0;
  std::mutex mutex;
  analysis::NativeRuns sum;
  std::exception_ptr problem;
  const auto work = [&] {
    try {
      for (analysis::NativeRuns one; next++ < runs; one = {}) {
        run_one(pins, one);
        const std::scoped_lock lock(mutex);
        sum += one;
      }
    } catch (...) {
      const std::scoped_lock lock(mutex);
      problem = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::min(options_.workers, runs); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (problem) std::rethrow_exception(problem);
  return sum;
}

}  // namespace heddle::driver
