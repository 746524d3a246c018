// SPDX-License-Identifier: Apache-2.0
//
// Where a program begins and fails.
#include <stdio.h>
#include <sys/single_threaded.h>

#include <cstdlib>
#include <cstring>

#include "abi/environment.h"
#include "runtime/base/remains.h"
#include "runtime/base/text.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/entry/children.h"
#include "runtime/entry/entry.h"
#include "runtime/entry/exits.h"
#include "runtime/entry/given_words.h"
#include "runtime/environment/stand_ins.h"
#include "runtime/memory/stack_owner.h"
#include "runtime/parallel/parallel_session.h"
#include "runtime/session/debugger.h"
#include "runtime/session/failure_signals.h"
#include "runtime/session/fork_server.h"
#include "runtime/sync/thread.h"

using namespace heddle::runtime;
namespace abi = heddle::abi;

extern "C" [[gnu::weak]] const char HEDDLE_NATIVE_SYMBOL;

namespace {

int (*program_main)(int, char**, char**) = nullptr;
char** moved_arguments = nullptr;

/// Whatever a controlled program starts is left alone: it finds this in its environment. By hand
/// (no driver) the process may still become another program, as under setarch or env.
bool become_controlled(bool has_driver) {
  if (!has_driver && &HEDDLE_NATIVE_SYMBOL != nullptr) return false;
  constexpr const char* kMark = "HEDDLE_CONTROLLED";
  const long process = raw_syscall(SYS_getpid);
  const char* const mark = std::getenv(kMark);
  if (!has_driver && mark != nullptr && std::atol(mark) != process) return false;
  char text[24] = {};
  std::size_t at = sizeof text - 1;
  for (long rest = has_driver ? 0 : process; rest > 0 || at == sizeof text - 1; rest /= 10) {
    text[--at] = static_cast<char>('0' + rest % 10);
  }
  Gate::close();  // what libc allocates for it is not the program's
  setenv(kMark, text + at, 1);
  const char* const bind_now = std::getenv("LD_BIND_NOW");
  if (bind_now != nullptr && same_text(bind_now, std::strchr(abi::kBindEagerly, '=') + 1)) {
    unsetenv("LD_BIND_NOW");
  }
  Gate::open();
  return true;
}

/// libc would allocate the buffer when something is first printed, and leave on the stack of
/// whoever does it what the kernel says of the file: numbers and times.
void give_standard_output_a_buffer() {
  static char buffer[4096];
  Gate::close();
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  Gate::open();
}

/// Where the program that is kept goes on, its libraries are not installed.
void load_what_may_be_needed() {
  Gate::close();
  load_unwinder();
  Gate::open();
}

int run_main(int count, char** arguments, char** environment) {
  session().main_begins();
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  void* const gap = here > first_frame() ? __builtin_alloca(here - first_frame()) : nullptr;
  const int status = thread_run_main(
      program_main, count, moved_arguments != nullptr ? moved_arguments : arguments, environment);
  asm volatile("" : : "r"(gap));  // until here
  return status;
}

/// Another thread's failure may have to come first, which then leaves its own call site behind.
void wait_to_fail() {
  const abi::SiteId said = HEDDLE_CALL_SITE_SYMBOL;
  if (const Gate gate; gate) session().about_to_fail();
  HEDDLE_CALL_SITE_SYMBOL = said;
}

}  // namespace

// The earliest point at which libc is ready: before the program's own constructors, which may
// already create threads.
HEDDLE_ENTRY int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments,
                                   void (*init)(), void (*fini)(), void (*loader_fini)(),
                                   void* stack_end) {
  Gate::begin();
  bool has_driver = false;
  abi::ChannelHeader& channel = open_channel(has_driver);
  real();
  stand_ins().begin(channel);
  if (!become_controlled(has_driver)) {
    return real().__libc_start_main(main, count, arguments, init, fini, loader_fini, stack_end);
  }
  // Libraries take unsynchronised short cuts while a program has one thread. It must not depend on
  // when the first lender was made.
  __libc_single_threaded = 0;
  install_failure_signals();
  watch_exit();
  if (has_driver) {
    give_standard_output_a_buffer();
    moved_arguments = move_given_words(arguments);
    if (channel.beginning == abi::Beginning::Kept) load_what_may_be_needed();
    serve_executions(channel);
    if (channel.beginning == abi::Beginning::Checkpoint) restore_checkpoint(channel);
    if (channel.beginning == abi::Beginning::Kept) keep_beginning(channel);
  }
  watch_forks();
  if (records_in_parallel(channel)) use_session(parallel_session());
  session().begin_run(channel);
  session().current().handle = __heddle_debug_threads[0] = pthread_self();
  program_main = main;
  forget_recent();
  return real().__libc_start_main(&run_main, count, arguments, init, fini, loader_fini, stack_end);
}

HEDDLE_ENTRY void __assert_fail(const char* expression, const char* file, unsigned line,
                                const char* function) noexcept {
  wait_to_fail();
  if (session().running()) {
    abi::FailureRecord& failure = session().failure();
    failure.kind = abi::FailureKind::Assert;
    failure.site = call_site();
    copy_text(failure.message, expression);
    copy_text(failure.file, file);
    copy_text(failure.function, function);
    failure.line = line;
  }
  real().__assert_fail(expression, file, line, function);
}

HEDDLE_ENTRY void abort() noexcept {
  wait_to_fail();
  real().abort();
}

extern "C" void __cxa_pure_virtual() {
  __builtin_trap();
}
