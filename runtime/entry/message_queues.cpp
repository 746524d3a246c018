// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of POSIX message queues, which are descriptors, and of what System V has instead:
// queues and semaphores, which have none.
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "runtime/entry/deadline.h"
#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"
#include "runtime/sync/attempt.h"

using namespace heddle::runtime;

namespace {

/// `call` is given a time that has passed: another process may have been faster.
template <typename Call>
long transfer_message(mqd_t queue, short events, const timespec* until, heddle::abi::SiteId site,
                      Call call) {
  const Gate gate;
  if (!gate) return result_of(call(until));
  if (until != nullptr && !is_time(*until)) return result_of(-EINVAL);
  std::int64_t limit = descriptor_time_limit(queue, events);
  if (limit != 0 && until != nullptr) {
    const std::int64_t left = VirtualClock::nanoseconds(*until) - session().clock().now();
    limit = left > 0 ? left : 1;
  }
  for (;;) {
    static constexpr timespec kPast{1, 0};
    bool asked = false;
    const long result = descriptor_call(session(), queue, events, limit, site, {}, [&] {
      asked = true;
      return call(&kPast);
    });
    if (asked && result == -ETIMEDOUT && limit == kNoTimeLimit) continue;
    const bool met = !asked && result == -EAGAIN;
    return result_of(met ? -ETIMEDOUT : result);
  }
}

}  // namespace

namespace {

int send_message(mqd_t queue, const char* bytes, std::size_t count, unsigned priority,
                 const timespec* until, heddle::abi::SiteId site) {
  return static_cast<int>(transfer_message(queue, POLLOUT, until, site, [=](const timespec* time) {
    return raw_syscall(SYS_mq_timedsend, queue, word(bytes), static_cast<long>(count), priority,
                       word(time));
  }));
}

ssize_t receive_message(mqd_t queue, char* bytes, std::size_t room, unsigned* priority,
                        const timespec* until, heddle::abi::SiteId site) {
  return transfer_message(queue, POLLIN, until, site, [=](const timespec* time) {
    return raw_syscall(SYS_mq_timedreceive, queue, word(bytes), static_cast<long>(room),
                       word(priority), word(time));
  });
}

}  // namespace

HEDDLE_ENTRY int mq_timedsend(mqd_t queue, const char* bytes, std::size_t count, unsigned priority,
                              const timespec* until) {
  return send_message(queue, bytes, count, priority, until, call_site());
}

HEDDLE_ENTRY int mq_send(mqd_t queue, const char* bytes, std::size_t count, unsigned priority) {
  return send_message(queue, bytes, count, priority, nullptr, call_site());
}

HEDDLE_ENTRY ssize_t mq_timedreceive(mqd_t queue, char* bytes, std::size_t room, unsigned* priority,
                                     const timespec* until) {
  return receive_message(queue, bytes, room, priority, until, call_site());
}

HEDDLE_ENTRY ssize_t mq_receive(mqd_t queue, char* bytes, std::size_t room, unsigned* priority) {
  return receive_message(queue, bytes, room, priority, nullptr, call_site());
}

namespace {

constexpr std::size_t kMostOperations = 500;  // the kernel's own limit, unless it was changed

struct SemaphoreRequest {
  const sembuf* operations;
  std::size_t count;
};

/// The first operation that would have to wait now, all being done one after the other; nullptr if
/// none would, or if the call will say what is wrong.
const sembuf* first_held_up(int semaphores, const SemaphoreRequest& request) {
  for (std::size_t i = 0; i < request.count; ++i) {
    const sembuf& wanted = request.operations[i];
    long value = raw_syscall(SYS_semctl, semaphores, wanted.sem_num, GETVAL);
    if (value < 0) return nullptr;
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      const sembuf& done = request.operations[earlier];
      if (done.sem_num == wanted.sem_num) value += done.sem_op;
    }
    if (wanted.sem_op == 0 ? value != 0 : value + wanted.sem_op < 0) return &wanted;
  }
  return nullptr;
}

/// subject: semaphores and request. What would have to wait but must not is to be tried too.
bool semaphores_allow(const OutsideEvent& event) {
  const sembuf* const held_up =
      first_held_up(static_cast<int>(event.subject[0]),
                    *reinterpret_cast<const SemaphoreRequest*>(event.subject[1]));
  return held_up == nullptr || (held_up->sem_flg & IPC_NOWAIT) != 0;
}

/// Counts what threads of this program do to queues: a look at one before and after may not tell.
constinit std::uint64_t queue_changes = 0;

/// What is known of a queue on which nothing could be done.
struct QueueState {
  msqid_ds seen;
  std::uint64_t changes;
};

void look_at_queue(int queue, QueueState& state) {
  state.changes = queue_changes;
  state.seen = {};
  raw_syscall(SYS_msgctl, queue, IPC_STAT, word(&state.seen));
}

/// subject: queue and QueueState.
bool queue_changed(const OutsideEvent& event) {
  const auto& before = *reinterpret_cast<const QueueState*>(event.subject[1]);
  QueueState now{};
  look_at_queue(static_cast<int>(event.subject[0]), now);
  return now.changes != before.changes || now.seen.msg_qnum != before.seen.msg_qnum ||
         now.seen.msg_stime != before.seen.msg_stime || now.seen.msg_rtime != before.seen.msg_rtime;
}

template <typename Call>
long transfer_system_v(int queue, bool waits, long busy, heddle::abi::SiteId site, Call call) {
  const Gate gate;
  if (!gate) return result_of(call(0));
  QueueState state{};
  OutsideEvent event{&queue_changed, nullptr, 0, {queue, word(&state)}};
  return result_of(attempt_until_done(session(), event, waits ? kNoTimeLimit : 0, busy, site, [&] {
    const long result = call(IPC_NOWAIT);
    if (result >= 0) ++queue_changes;
    look_at_queue(queue, state);
    return result;
  }));
}

}  // namespace

namespace {

int operate(int semaphores, sembuf* operations, std::size_t count, const timespec* time,
            heddle::abi::SiteId site) {
  const Gate gate;
  if (!gate || count > kMostOperations) {
    return static_cast<int>(result_of(raw_syscall(SYS_semtimedop, semaphores, word(operations),
                                                  static_cast<long>(count), word(time))));
  }
  if (time != nullptr && (!is_time(*time) || time->tv_sec < 0)) {
    return static_cast<int>(result_of(-EINVAL));
  }
  sembuf now[kMostOperations];
  for (std::size_t i = 0; i < count; ++i) {
    now[i] = operations[i];
    now[i].sem_flg = static_cast<short>(now[i].sem_flg | IPC_NOWAIT);
  }
  constexpr long kHeldUp = -1000;  // no error of the kernel's
  const std::int64_t limit = time == nullptr ? kNoTimeLimit : VirtualClock::nanoseconds(*time) | 1;
  const SemaphoreRequest request{operations, count};
  OutsideEvent event{&semaphores_allow, nullptr, 0, {semaphores, word(&request)}};
  const long result = attempt_until_done(session(), event, limit, kHeldUp, site, [&] {
    const long done =
        raw_syscall(SYS_semtimedop, semaphores, word(now), static_cast<long>(count), 0);
    return done == -EAGAIN && !semaphores_allow(event) ? kHeldUp : done;
  });
  return static_cast<int>(result_of(result == kHeldUp ? -EAGAIN : result));
}

}  // namespace

HEDDLE_ENTRY int semtimedop(int semaphores, sembuf* operations, std::size_t count,
                            const timespec* time) noexcept {
  return operate(semaphores, operations, count, time, call_site());
}

HEDDLE_ENTRY int semop(int semaphores, sembuf* operations, std::size_t count) noexcept {
  return operate(semaphores, operations, count, nullptr, call_site());
}

HEDDLE_ENTRY int msgsnd(int queue, const void* message, std::size_t bytes, int flags) {
  return static_cast<int>(
      transfer_system_v(queue, (flags & IPC_NOWAIT) == 0, -EAGAIN, call_site(), [=](int also) {
        return raw_syscall(SYS_msgsnd, queue, word(message), static_cast<long>(bytes),
                           flags | also);
      }));
}

HEDDLE_ENTRY ssize_t msgrcv(int queue, void* message, std::size_t room, long type, int flags) {
  return transfer_system_v(queue, (flags & IPC_NOWAIT) == 0, -ENOMSG, call_site(), [=](int also) {
    return raw_syscall(SYS_msgrcv, queue, word(message), static_cast<long>(room), type,
                       flags | also);
  });
}
