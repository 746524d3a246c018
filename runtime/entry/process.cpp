// SPDX-License-Identifier: Apache-2.0
//
// Where a program begins, forks and fails.
#include <sys/single_threaded.h>

#include "runtime/base/text.h"
#include "runtime/entry/call_site.h"
#include "runtime/entry/exits.h"
#include "runtime/entry/gate.h"
#include "runtime/entry/real.h"
#include "runtime/session/failure_signals.h"
#include "runtime/session/fork_server.h"

#define HEDDLE_ENTRY extern "C" __attribute__((visibility("default")))

using namespace heddle::runtime;
namespace abi = heddle::abi;

// The earliest point at which libc is ready: before the program's own constructors, which may
// already create threads.
HEDDLE_ENTRY int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments,
                                   void (*init)(), void (*fini)(), void (*loader_fini)(),
                                   void* stack_end) {
  bool has_driver = false;
  abi::ChannelHeader& channel = open_channel(has_driver);
  real();
  // Libraries take unsynchronised short cuts while a program has one thread. It must not depend on
  // when the first lender was made.
  __libc_single_threaded = 0;
  install_failure_signals();
  watch_exit();
  if (has_driver) serve_executions(channel);
  session().begin_run(channel);
  return real().__libc_start_main(main, count, arguments, init, fini, loader_fini, stack_end);
}

// A child process is left alone: it goes on natively, as a program of its own.
HEDDLE_ENTRY pid_t fork() noexcept {
  const pid_t child = real().fork();
  if (child == 0) session().abandon();
  return child;
}

HEDDLE_ENTRY void __assert_fail(const char* expression, const char* file, unsigned line,
                                const char* function) noexcept {
  if (session().running()) {
    abi::FailureRecord& failure = session().failure();
    failure.kind = abi::FailureKind::Assert;
    copy_text(failure.message, expression);
    copy_text(failure.file, file);
    copy_text(failure.function, function);
    failure.line = line;
  }
  real().__assert_fail(expression, file, line, function);
}

extern "C" void __cxa_pure_virtual() {
  __builtin_trap();
}
