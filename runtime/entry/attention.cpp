// SPDX-License-Identifier: Apache-2.0
#include "runtime/entry/entry.h"
#include "runtime/sync/cancellation.h"
#include "runtime/sync/signals.h"
#include "runtime/sync/thread.h"

namespace heddle::runtime {

void Gate::attend() {
  attention_ = false;
  Session& run = session();
  if (!run.running()) return;
  const abi::ThreadIndex thread = run.current_index();
  if (cancellation_due_at_once(thread)) {
    close();
    thread_exit(run, PTHREAD_CANCELED);
  }
  for (std::uint32_t i = 0; i < run.thread_count(); ++i) {
    if (cancellation_due_at_once(static_cast<abi::ThreadIndex>(i))) attention_ = true;
  }
  signal_deliver(run);
}

}  // namespace heddle::runtime
