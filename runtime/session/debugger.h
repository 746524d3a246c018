// SPDX-License-Identifier: Apache-2.0
//
// What a debugger and an execution tell each other. Everything is a plain variable or an empty
// function with a well-known name: the debugger (cli/gdb/heddle_gdb.py) reads and writes them
// and has a breakpoint at the function. It costs an execution without debugger one comparison an
// operation.
#pragma once

#include <cstdint>

#include "abi/channel.h"
#include "runtime/schedule/thread_set.h"

extern "C" {
/// The execution stops before its first operation at which this many events have happened.
extern std::uint64_t __heddle_debug_stop_at;
/// Where the number of events so far is; null until the run begins.
extern const std::uint64_t* __heddle_debug_position;
/// The pthread_t of each thread by its index; 0: not there.
extern unsigned long __heddle_debug_threads[heddle::abi::kMaxThreads];
/// While stopped: who could go on instead, as a bit set; and, to be set by the debugger, with whom
/// to go on, which ends following the schedule.
extern std::uint64_t __heddle_debug_enabled[heddle::abi::kMaxThreads / 64];
extern std::uint64_t __heddle_debug_other;
/// While stopped, of a store buffer among them: how many of its stores could become visible next.
extern std::uint64_t __heddle_debug_choices[heddle::abi::kMaxThreads];
/// To be set by the debugger: the answer to the next question that is not for a thread (which
/// waiter wakes, which store becomes visible). It, too, ends following the schedule.
extern std::uint64_t __heddle_debug_value;
/// Why the run is about to be ended by the runtime; null while it is not.
extern const char* __heddle_debug_ending;
/// Called where the execution is to be looked at.
void __heddle_debug_stop();
}

namespace heddle::runtime {

void debugger_begin(const abi::ChannelHeader& channel);
inline bool debugger_wants(std::uint64_t events) {
  return events >= __heddle_debug_stop_at;
}
/// Stops. Returns with whom to go on, or kNoThread: as the schedule says.
abi::ThreadIndex debugger_stop(const ThreadSet& enabled);
/// Whether the debugger has an answer below `bound`; taken once.
inline bool debugger_answers(std::uint32_t bound, std::uint32_t& value) {
  if (__heddle_debug_value >= bound) return false;
  value = static_cast<std::uint32_t>(__heddle_debug_value);
  __heddle_debug_value = ~std::uint64_t{0};
  return true;
}
/// The run is going to be ended because of `why`.
void debugger_ending(const char* why);

}  // namespace heddle::runtime
