// SPDX-License-Identifier: Apache-2.0
//
// Signals in a controlled run. One kernel thread carries all threads, so who a signal is for and
// who blocks it is kept here. A handler runs at the end of an operation of its thread, with the
// gate open: what it does is controlled as anything else.
#pragma once

#include <pthread.h>
#include <signal.h>

#include "runtime/session/session.h"

namespace heddle::runtime {

/// pthread_kill: the thread's handler runs when the thread next does.
int signal_send(Session& session, pthread_t handle, int number, abi::SiteId site);
/// pthread_sigmask, for one thread.
int signal_change_mask(abi::ThreadIndex thread, int how, const sigset_t* change, sigset_t* before);
void signal_inherit_mask(abi::ThreadIndex from, abi::ThreadIndex to);
std::uint64_t signal_mask_of(abi::ThreadIndex thread);

/// A signal waits for this thread, and it does not block it: waits that signals interrupt are over.
bool signal_due(abi::ThreadIndex thread);
/// The handler of what is due wants interrupted system calls to go on (SA_RESTART).
bool signal_restarts(abi::ThreadIndex thread);
/// A signal to the process, or to `target` unless that is kNoThread, that the runtime itself sends.
void signal_post(Session& session, const siginfo_t& info, abi::ThreadIndex target);
/// From now on threads that wait are asked whether they are to be interrupted: by signals, and by a
/// cancellation that need not wait for its point.
void signal_watch(Session& session);
/// The program has a handler for it that may run at any time.
bool signal_is_handled(int number);
/// Sending it to the process would make a handler run, or end a wait for it: it is not there yet,
/// and would not just end the program.
bool signal_helps(int number);
/// Runs the handlers of what is due for the current thread. The gate is open.
void signal_deliver(Session& session);
/// What waits for the thread or for the process, blocked or not.
std::uint64_t signal_waiting(abi::ThreadIndex thread);
/// What has come for the thread or for the process out of `set`, taken away; 0 if nothing.
int signal_take(abi::ThreadIndex thread, std::uint64_t set);

/// sigaction: as libc's, but a handler never runs while the runtime is at work.
int signal_set_action(int number, const struct sigaction* action, struct sigaction* before);

}  // namespace heddle::runtime
