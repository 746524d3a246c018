// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of the calls that wait for several descriptors.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"
#include "runtime/sync/descriptor.h"

using namespace heddle::runtime;

namespace {

std::int64_t limit_of_milliseconds(int milliseconds) {
  return milliseconds < 0 ? kNoTimeLimit : std::int64_t{milliseconds} * 1'000'000;
}

std::int64_t limit_of(const timespec* time) {
  return time == nullptr ? kNoTimeLimit : VirtualClock::nanoseconds(*time);
}

/// The thread's signal mask while it waits (ppoll and its kin). Handlers of what interrupted the
/// wait run before the old mask is back.
class TemporaryMask {
 public:
  explicit TemporaryMask(const sigset_t* mask) : set_(mask != nullptr) {
    if (set_) signal_change_mask(session().current_index(), SIG_SETMASK, mask, &before_);
  }
  ~TemporaryMask() {
    if (!set_) return;
    if (signal_due(session().current_index())) {
      Gate::open();
      signal_deliver(session());
      Gate::close();
    }
    signal_change_mask(session().current_index(), SIG_SETMASK, &before_, nullptr);
  }
  TemporaryMask(const TemporaryMask&) = delete;
  TemporaryMask& operator=(const TemporaryMask&) = delete;

 private:
  bool set_;
  sigset_t before_ = {};
};

struct Sets {
  fd_set* read;
  fd_set* write;
  fd_set* except;
};

bool has(const fd_set* set, int descriptor) {
  return set != nullptr && FD_ISSET(descriptor, set);
}

/// select, in terms of poll.
long select_by_poll(int count, const Sets& sets, std::int64_t limit) {
  if (count < 0 || count > FD_SETSIZE) return -EINVAL;
  pollfd polled[FD_SETSIZE];
  unsigned used = 0;
  for (int i = 0; i < count; ++i) {
    const int events = (has(sets.read, i) ? POLLIN : 0) | (has(sets.write, i) ? POLLOUT : 0) |
                       (has(sets.except, i) ? POLLPRI : 0);
    if (events != 0) polled[used++] = {i, static_cast<short>(events), 0};
  }
  const long result = descriptor_poll(session(), polled, used, limit, call_site());
  if (result < 0) return result;
  for (unsigned i = 0; i < used; ++i) {
    if ((polled[i].revents & POLLNVAL) != 0) return -EBADF;
  }
  long found = 0;
  for (unsigned i = 0; i < used; ++i) {
    const auto keep = [&](fd_set* set, int asked, int shown) {
      if ((polled[i].events & asked) == 0) return;
      if ((polled[i].revents & shown) != 0) {
        ++found;
      } else {
        FD_CLR(polled[i].fd, set);
      }
    };
    keep(sets.read, POLLIN, POLLIN | POLLHUP | POLLERR);
    keep(sets.write, POLLOUT, POLLOUT | POLLERR);
    keep(sets.except, POLLPRI, POLLPRI);
  }
  return found;
}

}  // namespace

HEDDLE_ENTRY int poll(pollfd* descriptors, nfds_t count, int milliseconds) {
  const Gate gate;
  if (!gate) {
    return int_result_of(
        raw_syscall(SYS_poll, word(descriptors), static_cast<long>(count), milliseconds));
  }
  return int_result_of(descriptor_poll(session(), descriptors, static_cast<unsigned>(count),
                                       limit_of_milliseconds(milliseconds), call_site()));
}

HEDDLE_ENTRY int ppoll(pollfd* descriptors, nfds_t count, const timespec* time,
                       const sigset_t* mask) {
  const Gate gate;
  if (!gate) return real().ppoll(descriptors, count, time, mask);
  const TemporaryMask while_waiting(mask);
  return int_result_of(descriptor_poll(session(), descriptors, static_cast<unsigned>(count),
                                       limit_of(time), call_site()));
}

HEDDLE_ENTRY int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* time) {
  const Gate gate;
  if (!gate) {
    return int_result_of(
        raw_syscall(SYS_select, count, word(read), word(write), word(except), word(time)));
  }
  const std::int64_t limit =
      time == nullptr ? kNoTimeLimit : time->tv_sec * VirtualClock::kSecond + time->tv_usec * 1000;
  return int_result_of(select_by_poll(count, {read, write, except}, limit));
}

HEDDLE_ENTRY int pselect(int count, fd_set* read, fd_set* write, fd_set* except,
                         const timespec* time, const sigset_t* mask) {
  const Gate gate;
  if (!gate) return real().pselect(count, read, write, except, time, mask);
  const TemporaryMask while_waiting(mask);
  return int_result_of(select_by_poll(count, {read, write, except}, limit_of(time)));
}

HEDDLE_ENTRY int epoll_pwait(int epoll, epoll_event* events, int room, int milliseconds,
                             const sigset_t* mask) {
  const Gate gate;
  if (!gate) return real().epoll_pwait(epoll, events, room, milliseconds, mask);
  const TemporaryMask while_waiting(mask);
  const iovec told{events, static_cast<std::size_t>(room > 0 ? room : 0) * sizeof *events};
  const Question question{SYS_epoll_wait, {&told, 1, sizeof *events}};
  const long result = descriptor_call(
      session(), epoll, POLLIN, limit_of_milliseconds(milliseconds), call_site(), question,
      [=] { return raw_syscall(SYS_epoll_wait, epoll, word(events), room, 0); });
  return int_result_of(result == -EAGAIN ? 0 : result);
}

HEDDLE_ENTRY int epoll_wait(int epoll, epoll_event* events, int room, int milliseconds) {
  return epoll_pwait(epoll, events, room, milliseconds, nullptr);
}

HEDDLE_ENTRY int __poll_chk(pollfd* descriptors, nfds_t count, int milliseconds, std::size_t) {
  return poll(descriptors, count, milliseconds);
}

HEDDLE_ENTRY int __ppoll_chk(pollfd* descriptors, nfds_t count, const timespec* time,
                             const sigset_t* mask, std::size_t) {
  return ppoll(descriptors, count, time, mask);
}
