// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/failure_signals.h"

#include <signal.h>
#include <ucontext.h>

#include <initializer_list>

#include "runtime/entry/call_site.h"
#include "runtime/entry/gate.h"
#include "runtime/reset/changes.h"
#include "runtime/reset/keeper.h"
#include "runtime/session/failure_stacks.h"
#include "runtime/session/session.h"

namespace heddle::runtime {
namespace {

/// Where the program was when the signal came, in code that does not say where it is.
abi::SiteId interrupted_site(const ucontext_t& interrupted) {
  return code_site(reinterpret_cast<const void*>(interrupted.uc_mcontext.gregs[REG_RIP]));
}

void catch_signal(int number);

/// The driver has given up on this execution and will end it when it has seen its stacks.
bool is_asked_for_stacks(int number, Session& run) {
  return number == SIGTRAP && run.running() && run.one_at_a_time() &&
         run.recorder().channel().look == static_cast<std::uint32_t>(abi::Look::Wanted);
}

void answer_with_stacks(Session& run, const ucontext_t& interrupted) {
  const long runs = run.carrier().kernel_thread(run.current_index());
  if (raw_syscall(SYS_gettid) != runs) {
    // The kernel has chosen another thread to hear the signal.
    catch_signal(SIGTRAP);
    raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), runs, SIGTRAP);
    return;
  }
  record_stacks(run, interrupted);
  __atomic_store_n(&run.recorder().channel().look, static_cast<std::uint32_t>(abi::Look::Done),
                   __ATOMIC_RELEASE);
  for (;;) raw_syscall(SYS_pause);
}

void fail(int number, const ucontext_t& interrupted) {
  Session& run = session();
  if (run.running()) {
    // From here nobody else can be gone on with: only where threads run in parallel can one wait.
    if (!run.one_at_a_time()) run.about_to_fail();
    // In the middle of an instrumented access the site is known exactly; else it is that of the
    // last call out of instrumented code (abort and the like).
    const bool in_access = Gate::closed();
    abi::FailureRecord& failure = run.failure();
    const abi::SiteId said = in_access ? run.current().pending.site : HEDDLE_CALL_SITE_SYMBOL;
    if (said != abi::kUnknownSite) {
      failure.site = said;
    } else if (failure.kind != abi::FailureKind::Assert) {
      failure.site = interrupted_site(interrupted);
    }
    if (in_access) run.record_interrupted();
    if (number != SIGSEGV && number != SIGBUS) run.complete_write();
    failure.signal = number;
    failure.thread = run.current_index();
    if (failure.kind == abi::FailureKind::None) failure.kind = abi::FailureKind::Signal;
    record_stacks(run, interrupted);
    run.abandon();
  }
  changes().signals = true;
  end_execution(number);
  // SA_RESETHAND has put the default action back: returning repeats the fault, raising ends it.
  raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), number);
}

/// The plan says that the run ends with the failure of another thread.
bool has_to_wait(const Session& run) {
  return run.running() && run.one_at_a_time() && !Gate::closed() && run.ends_with_another();
}

/// What a signal found, on the stack of its thread.
struct Interrupted {
  int number;
  ucontext_t context;
};

void fail_later(const Interrupted& interrupted) {
  const abi::SiteId said = HEDDLE_CALL_SITE_SYMBOL;
  if (const Gate gate; gate) session().about_to_fail();
  HEDDLE_CALL_SITE_SYMBOL = said;
  struct sigaction none{};
  none.sa_handler = SIG_DFL;
  sigaction(interrupted.number, &none, nullptr);
  fail(interrupted.number, interrupted.context);
}

/// Nobody can be gone on with from the handler, whose stack the next signal needs: the thread calls
/// fail_later() instead of going on. False where it has no stack left.
bool fails_later(int number, const void* fault, ucontext_t& interrupted) {
  constexpr std::uint64_t kRedZone = 128, kRoom = 64 << 10;
  greg_t* const registers = interrupted.uc_mcontext.gregs;
  const auto top = static_cast<std::uint64_t>(registers[REG_RSP]);
  const auto touched = reinterpret_cast<std::uint64_t>(fault);
  if (number == SIGSEGV && touched < top + kRoom && touched + kRoom > top) return false;
  const std::uint64_t place = (top - kRedZone - sizeof(Interrupted)) & ~std::uint64_t{63};
  *reinterpret_cast<Interrupted*>(place) = {number, interrupted};
  registers[REG_RDI] = static_cast<greg_t>(place);
  registers[REG_RSP] = static_cast<greg_t>(place - 8);  // as behind a call
  registers[REG_RIP] = reinterpret_cast<greg_t>(&fail_later);
  catch_signal(number);
  return true;
}

void on_fatal_signal(int number, siginfo_t* information, void* context) {
  Session& run = session();
  auto& interrupted = *static_cast<ucontext_t*>(context);
  if (is_asked_for_stacks(number, run)) return answer_with_stacks(run, interrupted);
  if (has_to_wait(run) && fails_later(number, information->si_addr, interrupted)) return;
  fail(number, interrupted);
}

void catch_signal(int number) {
  struct sigaction action{};
  action.sa_sigaction = &on_fatal_signal;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  sigaction(number, &action, nullptr);
}

}  // namespace

void install_failure_signals() {
  constexpr std::size_t kStackBytes = 64 << 10;
  stack_t stack{};
  stack.ss_sp = own_memory(kStackBytes);  // a stack overflow leaves no other
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
    catch_signal(number);
  }
}

}  // namespace heddle::runtime
