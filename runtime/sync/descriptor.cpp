// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/descriptor.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "runtime/base/system.h"
#include "runtime/sync/cancellation.h"
#include "runtime/sync/timer.h"

namespace heddle::runtime {
namespace {

/// The descriptor does not wait in the kernel while this lives.
class WithoutWaiting {
 public:
  explicit WithoutWaiting(int descriptor)
      : descriptor_(descriptor), flags_(raw_syscall(SYS_fcntl, descriptor, F_GETFL)) {
    if (flags_ >= 0) raw_syscall(SYS_fcntl, descriptor_, F_SETFL, flags_ | O_NONBLOCK);
  }
  ~WithoutWaiting() {
    if (flags_ >= 0) raw_syscall(SYS_fcntl, descriptor_, F_SETFL, flags_);
  }
  WithoutWaiting(const WithoutWaiting&) = delete;
  WithoutWaiting& operator=(const WithoutWaiting&) = delete;

 private:
  int descriptor_;
  long flags_;
};

long connect_now(int descriptor, const void* address, unsigned length) {
  const WithoutWaiting now(descriptor);
  return raw_syscall(SYS_connect, descriptor, reinterpret_cast<long>(address), length);
}

}  // namespace

std::int64_t descriptor_time_limit(int descriptor, short events) {
  const long flags = raw_syscall(SYS_fcntl, descriptor, F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK) != 0) return 0;
  timeval limit{};
  socklen_t bytes = sizeof limit;
  const int option = (events & POLLIN) != 0 ? SO_RCVTIMEO : SO_SNDTIMEO;
  const long result = raw_syscall(SYS_getsockopt, descriptor, SOL_SOCKET, option,
                                  reinterpret_cast<long>(&limit), reinterpret_cast<long>(&bytes));
  if (result < 0 || (limit.tv_sec == 0 && limit.tv_usec == 0)) return kNoTimeLimit;
  return limit.tv_sec * VirtualClock::kSecond + limit.tv_usec * 1000;
}

bool descriptors_ready(const OutsideEvent& event) {
  return raw_syscall(SYS_poll, reinterpret_cast<long>(event.descriptors), event.count, 0) != 0;
}

int descriptor_arrive(Session& session, const Operation& operation, OutsideEvent& event,
                      std::int64_t time_limit) {
  if (time_limit == kNoTimeLimit) return outside_arrive(session, operation, event) ? 0 : -EINTR;
  if (time_limit > 0 && !session.one_at_a_time()) {
    return outside_arrive_within(session, operation, event, time_limit);
  }
  Operation turn = operation;
  if (time_limit > 0) turn.detail = kTimed;
  session.arrive(turn);
  timers_fire(session);
  if (time_limit == 0) return 0;
  cancellation_act(session, operation.site);
  if (event.happened(event)) return 0;
  // Somebody else could still make it ready: that the limit is met first is the schedule's doing.
  // If nobody else can, it has to come from outside, and gets its chance.
  const std::int64_t timer = timers_next();
  if (timer >= 0 && timer <= session.clock().now() + time_limit) {
    session.clock().advance_to(timer);
    timers_fire(session);
    if (event.happened(event)) return 0;
  }
  outside_pause(session, time_limit,
                event.happened == &descriptors_ready && event.count == 0 ? nullptr : &event);
  if (event.happened(event)) return 0;
  if (signal_due(session.current_index())) return -EINTR;
  session.clock().advance_by(time_limit);
  return -EAGAIN;
}

bool any_is_outside(const Session& session, const OutsideEvent& event) {
  for (unsigned i = 0; i < event.count; ++i) {
    if (is_outside(session, event.descriptors[i].fd)) return true;
  }
  return false;
}

bool descriptor_restart(Session& session) {
  if (!signal_restarts(session.current_index())) return false;
  Gate::open();
  signal_deliver(session);
  Gate::close();
  return true;
}

long descriptor_write(Session& session, int descriptor, const void* bytes, std::size_t count,
                      abi::SiteId site) {
  const std::int64_t limit = descriptor_time_limit(descriptor, POLLOUT);
  const auto write_at = [&](std::size_t offset) {
    return raw_syscall(SYS_write, descriptor,
                       reinterpret_cast<long>(bytes) + static_cast<long>(offset),
                       static_cast<long>(count - offset));
  };
  // A pipe that is ready takes this much at once.
  if (limit == 0 || count <= PIPE_BUF) {
    return descriptor_call(session, descriptor, POLLOUT, limit, site, {SYS_write},
                           [&] { return write_at(0); });
  }
  std::size_t done = 0;
  while (done < count) {
    const long result =
        descriptor_call(session, descriptor, POLLOUT, limit, site, {SYS_write}, [&] {
          const WithoutWaiting now(descriptor);
          return write_at(done);
        });
    if (result == -EAGAIN && limit == kNoTimeLimit) continue;
    if (result <= 0) return done > 0 ? static_cast<long>(done) : result;
    done += static_cast<std::size_t>(result);
  }
  return static_cast<long>(done);
}

long descriptor_connect(Session& session, int descriptor, const void* address, unsigned length,
                        abi::SiteId site) {
  const std::int64_t limit = descriptor_time_limit(descriptor, POLLOUT);
  for (;;) {
    const long result = descriptor_call(session, descriptor, POLLOUT, 0, site, {SYS_connect},
                                        [&] { return connect_now(descriptor, address, length); });
    if (limit == 0) return result;
    // A local socket whose listener has no room: there is nothing to poll for.
    if (result == -EAGAIN) continue;
    if (result != -EINPROGRESS) return result;
    break;
  }
  return descriptor_call(session, descriptor, POLLOUT, limit, site, {SYS_connect}, [&]() -> long {
    int error = 0;
    socklen_t bytes = sizeof error;
    raw_syscall(SYS_getsockopt, descriptor, SOL_SOCKET, SO_ERROR, reinterpret_cast<long>(&error),
                reinterpret_cast<long>(&bytes));
    return -error;
  });
}

long descriptor_poll(Session& session, pollfd* descriptors, unsigned count, std::int64_t time_limit,
                     abi::SiteId site) {
  const Operation operation = operation_on(nullptr, abi::EventKind::Descriptor, site);
  OutsideEvent event{&descriptors_ready, descriptors, count};
  Question question{SYS_poll};
  question.outputs.whole[0] = {descriptors, count * sizeof(pollfd)};
  long result = descriptor_ask(session, operation, event, time_limit, question, [&] {
    return raw_syscall(SYS_poll, reinterpret_cast<long>(descriptors), count, 0);
  });
  if (result == -EAGAIN) result = 0;
  session.record(operation, 0, static_cast<std::uint64_t>(result), count);
  outside_refresh(session);
  return result;
}

}  // namespace heddle::runtime
