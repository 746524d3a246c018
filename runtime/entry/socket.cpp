// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of the calls on sockets that never wait: what they say of the outside is
// recorded, or told from a recording (a port may be taken by another program by then). Otherwise
// they are the kernel's.
#include <sys/socket.h>

#include <cerrno>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"
#include "runtime/entry/ports.h"
#include "runtime/environment/environment.h"

using namespace heddle::runtime;

namespace {

template <typename Make>
int about_socket(int descriptor, const Question& question, Make make) {
  const Gate gate;
  if (!gate || !is_outside(session(), descriptor)) return int_result_of(make());
  return int_result_of(ask(session(), question, make));
}

/// An address, or a value, and its length.
Outputs sized(void* bytes, socklen_t* length) {
  Outputs outputs;
  if (bytes == nullptr || length == nullptr) return outputs;
  outputs.whole[0] = {bytes, *length};
  outputs.whole[1] = {length, sizeof *length};
  return outputs;
}

}  // namespace

HEDDLE_ENTRY int bind(int descriptor, const sockaddr* address, socklen_t length) noexcept {
  return about_socket(descriptor, {SYS_bind, {}},
                      [=] { return raw_syscall(SYS_bind, descriptor, word(address), length); });
}

HEDDLE_ENTRY int listen(int descriptor, int room) noexcept {
  return about_socket(descriptor, {SYS_listen, {}},
                      [=] { return raw_syscall(SYS_listen, descriptor, room); });
}

HEDDLE_ENTRY int getsockname(int descriptor, sockaddr* address, socklen_t* length) noexcept {
  const int result = about_socket(descriptor, {SYS_getsockname, sized(address, length)}, [=] {
    return raw_syscall(SYS_getsockname, descriptor, word(address), word(length));
  });
  if (result == 0) port_show(address, length);
  return result;
}

HEDDLE_ENTRY int getpeername(int descriptor, sockaddr* address, socklen_t* length) noexcept {
  const int result = about_socket(descriptor, {SYS_getpeername, sized(address, length)}, [=] {
    return raw_syscall(SYS_getpeername, descriptor, word(address), word(length));
  });
  if (result == 0) port_show(address, length);
  return result;
}

HEDDLE_ENTRY int getsockopt(int descriptor, int level, int option, void* value,
                            socklen_t* length) noexcept {
  return about_socket(descriptor, {SYS_getsockopt, sized(value, length)}, [=] {
    return raw_syscall(SYS_getsockopt, descriptor, level, option, word(value), word(length));
  });
}

HEDDLE_ENTRY int setsockopt(int descriptor, int level, int option, const void* value,
                            socklen_t length) noexcept {
  return about_socket(descriptor, {SYS_setsockopt, {}}, [=] {
    return raw_syscall(SYS_setsockopt, descriptor, level, option, word(value), length);
  });
}
