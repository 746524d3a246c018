// SPDX-License-Identifier: Apache-2.0
#include "driver/one_cpu.h"

#include <sched.h>

namespace heddle::driver {
namespace {

using namespace std::chrono_literals;

// An execution that takes longer gains nothing, and the kernel should be free to move it.
constexpr auto kShort = 2ms;
constexpr auto kHeld = 50ms;

/// What heddle was given, read before anybody is held.
const cpu_set_t& given() {
  static const cpu_set_t set = [] {
    cpu_set_t all;
    CPU_ZERO(&all);
    if (sched_getaffinity(0, sizeof all, &all) != 0) CPU_SET(0, &all);
    return all;
  }();
  return set;
}

constexpr pid_t kCaller = 0;
constexpr pid_t kNobody = -1;

/// Where it is refused, or the process has just ended, all works as well, only slower.
void allow(pid_t process, const cpu_set_t& set) {
  if (process != kNobody) sched_setaffinity(process, sizeof set, &set);
}

cpu_set_t current() {
  const cpu_set_t& all = given();
  const int cpu = sched_getcpu();
  if (cpu < 0) return all;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  return one;
}

}  // namespace

OneCpu::~OneCpu() {
  if (held_) leave();
}

void OneCpu::leave() {
  allow(kCaller, given());
}

void OneCpu::begin(pid_t server, pid_t worker) {
  begun_ = Clock::now();
  // Numbers of processes that have ended may be others' by now: only one that had the last execution
  // too is sure to live. A new one is where its server is.
  const pid_t staying = worker == worker_ ? worker : kNobody;
  worker_ = worker;
  if (held_ && (!short_ || begun_ - held_since_ > kHeld)) {
    for (const pid_t process : {kCaller, server, staying}) allow(process, given());
    held_ = false;
  } else if (!held_ && short_) {
    const cpu_set_t one = current();
    for (const pid_t process : {kCaller, server, staying}) allow(process, one);
    held_ = true;
    held_since_ = begun_;
  }
}

void OneCpu::end() {
  short_ = Clock::now() - begun_ < kShort;
}

}  // namespace heddle::driver
