// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of the calls that wait for one descriptor.
#include "runtime/sync/descriptor.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"
#include "runtime/entry/ports.h"
#include "runtime/entry/random.h"
#include "runtime/sync/timer.h"

using namespace heddle::runtime;

namespace {

/// The system call, at its turn if the program is controlled.
template <typename Call>
long transfer(int descriptor, short events, bool waits, const Question& question, Call call) {
  const Gate gate;
  if (!gate) return result_of(call());
  const std::int64_t limit = waits ? descriptor_time_limit(descriptor, events) : 0;
  return result_of(
      descriptor_call(session(), descriptor, events, limit, call_site(), question, call));
}

void add_address(Outputs& outputs, sockaddr* address, socklen_t* length) {
  if (address == nullptr || length == nullptr) return;
  outputs.whole[0] = {address, *length};
  outputs.whole[1] = {length, sizeof *length};
}

bool waits(int flags) {
  return (flags & MSG_DONTWAIT) == 0;
}

}  // namespace

HEDDLE_ENTRY ssize_t read(int descriptor, void* bytes, std::size_t count) {
  if (random_read(descriptor, bytes, count)) return static_cast<ssize_t>(count);
  const iovec told{bytes, count};
  return transfer(descriptor, POLLIN, true, {SYS_read, {&told, 1}}, [=] {
    return raw_syscall(SYS_read, descriptor, word(bytes), static_cast<long>(count));
  });
}

HEDDLE_ENTRY ssize_t readv(int descriptor, const iovec* parts, int count) {
  return transfer(descriptor, POLLIN, true, {SYS_readv, {parts, static_cast<unsigned>(count)}},
                  [=] { return raw_syscall(SYS_readv, descriptor, word(parts), count); });
}

HEDDLE_ENTRY ssize_t write(int descriptor, const void* bytes, std::size_t count) {
  const Gate gate;
  if (!gate) {
    return result_of(raw_syscall(SYS_write, descriptor, word(bytes), static_cast<long>(count)));
  }
  return result_of(descriptor_write(session(), descriptor, bytes, count, call_site()));
}

HEDDLE_ENTRY ssize_t writev(int descriptor, const iovec* parts, int count) {
  return transfer(descriptor, POLLOUT, true, {SYS_writev},
                  [=] { return raw_syscall(SYS_writev, descriptor, word(parts), count); });
}

HEDDLE_ENTRY ssize_t recvfrom(int descriptor, void* bytes, std::size_t count, int flags,
                              sockaddr* address, socklen_t* length) {
  const iovec told{bytes, count};
  Question question{SYS_recvfrom, {&told, 1}};
  add_address(question.outputs, address, length);
  const ssize_t got = transfer(descriptor, POLLIN, waits(flags), question, [=] {
    return raw_syscall(SYS_recvfrom, descriptor, word(bytes), static_cast<long>(count), flags,
                       word(address), word(length));
  });
  if (got >= 0) port_show(address, length);
  return got;
}

HEDDLE_ENTRY ssize_t recv(int descriptor, void* bytes, std::size_t count, int flags) {
  return recvfrom(descriptor, bytes, count, flags, nullptr, nullptr);
}

HEDDLE_ENTRY ssize_t recvmsg(int descriptor, msghdr* message, int flags) {
  Question question{SYS_recvmsg, {message->msg_iov, static_cast<unsigned>(message->msg_iovlen)}};
  question.outputs.whole[0] = {message->msg_name, message->msg_namelen};
  question.outputs.whole[1] = {&message->msg_namelen, sizeof message->msg_namelen};
  question.outputs.whole[2] = {message->msg_control, message->msg_controllen};
  question.outputs.whole[3] = {&message->msg_controllen, sizeof message->msg_controllen};
  question.outputs.whole[4] = {&message->msg_flags, sizeof message->msg_flags};
  return transfer(descriptor, POLLIN, waits(flags), question, [=] {
    const long result = raw_syscall(SYS_recvmsg, descriptor, word(message), flags);
    if (result >= 0 && message->msg_control != nullptr && message->msg_controllen > 0) {
      note_source(session(), heddle::abi::UnrecordedSource::ControlMessage);
    }
    return result;
  });
}

HEDDLE_ENTRY ssize_t sendto(int descriptor, const void* bytes, std::size_t count, int flags,
                            const sockaddr* address, socklen_t length) {
  return transfer(descriptor, POLLOUT, waits(flags), {SYS_sendto}, [=] {
    return raw_syscall(SYS_sendto, descriptor, word(bytes), static_cast<long>(count), flags,
                       word(address), length);
  });
}

HEDDLE_ENTRY ssize_t send(int descriptor, const void* bytes, std::size_t count, int flags) {
  return sendto(descriptor, bytes, count, flags, nullptr, 0);
}

HEDDLE_ENTRY ssize_t sendmsg(int descriptor, const msghdr* message, int flags) {
  return transfer(descriptor, POLLOUT, waits(flags), {SYS_sendmsg},
                  [=] { return raw_syscall(SYS_sendmsg, descriptor, word(message), flags); });
}

HEDDLE_ENTRY int accept4(int descriptor, sockaddr* address, socklen_t* length, int flags) {
  Question question{SYS_accept4};
  question.gives_descriptor = true;
  add_address(question.outputs, address, length);
  const auto accepted = static_cast<int>(transfer(descriptor, POLLIN, true, question, [=] {
    return raw_syscall(SYS_accept4, descriptor, word(address), word(length), flags);
  }));
  if (accepted >= 0) port_show(address, length);
  return accepted;
}

HEDDLE_ENTRY int accept(int descriptor, sockaddr* address, socklen_t* length) {
  return accept4(descriptor, address, length, 0);
}

HEDDLE_ENTRY int connect(int descriptor, const sockaddr* address, socklen_t length) {
  const Gate gate;
  if (!gate) {
    return static_cast<int>(result_of(raw_syscall(SYS_connect, descriptor, word(address), length)));
  }
  if (session().one_at_a_time() && !session().told().active()) port_assign(descriptor);
  return static_cast<int>(
      result_of(descriptor_connect(session(), descriptor, address, length, call_site())));
}

HEDDLE_ENTRY int close(int descriptor) {
  return static_cast<int>(transfer(descriptor, 0, false, {}, [=] {
    timer_forget(descriptor);
    outside_mark_internal(descriptor, false);
    return raw_syscall(SYS_close, descriptor);
  }));
}

HEDDLE_ENTRY int shutdown(int descriptor, int how) noexcept {
  return static_cast<int>(transfer(descriptor, 0, false, {SYS_shutdown},
                                   [=] { return raw_syscall(SYS_shutdown, descriptor, how); }));
}

// eventfd's own names for reading and writing.
HEDDLE_ENTRY int eventfd_read(int descriptor, std::uint64_t* value) {
  return read(descriptor, value, sizeof *value) == sizeof *value ? 0 : -1;
}

HEDDLE_ENTRY int eventfd_write(int descriptor, std::uint64_t value) {
  return write(descriptor, &value, sizeof value) == sizeof value ? 0 : -1;
}

// What the compiler makes of read and recv under _FORTIFY_SOURCE.
HEDDLE_ENTRY ssize_t __read_chk(int descriptor, void* bytes, std::size_t count, std::size_t room) {
  if (count > room) __builtin_trap();
  return read(descriptor, bytes, count);
}

HEDDLE_ENTRY ssize_t __recv_chk(int descriptor, void* bytes, std::size_t count, std::size_t room,
                                int flags) {
  if (count > room) __builtin_trap();
  return recv(descriptor, bytes, count, flags);
}

HEDDLE_ENTRY ssize_t __recvfrom_chk(int descriptor, void* bytes, std::size_t count,
                                    std::size_t room, int flags, sockaddr* address,
                                    socklen_t* length) {
  if (count > room) __builtin_trap();
  return recvfrom(descriptor, bytes, count, flags, address, length);
}
